// Rates and latencies of now from counters since the start: differences of two answers.
import type { Activity, ProtocolActivity } from './api/types.ts';

export interface ProtocolRates {
  name: string;
  operations: number; // each a second
  errors: number;
  read: number; // bytes a second
  written: number;
  p50: number | null; // microseconds; null: no request meanwhile
  p99: number | null;
}
export interface Sample {
  at: number; // seconds since 1970
  protocols: ProtocolRates[];
}

// Buckets hold up to 2^i microseconds; within one, requests count as spread evenly (the server does the same).
export function quantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (total <= 0) return null;
  const wanted = share * total;
  let before = 0;
  for (const [i, here] of counts.entries()) {
    if (here > 0 && before + here >= wanted) {
      const low = i === 0 ? 0 : 2 ** (i - 1);
      return low + (2 ** i - low) * ((wanted - before) / here);
    }
    before += here;
  }
  return 2 ** (counts.length - 1);
}

function protocolRates(before: ProtocolActivity, now: ProtocolActivity, seconds: number): ProtocolRates {
  const rate = (a: number, b: number) => Math.max(0, b - a) / seconds;
  const counts = now.latency.counts.map((n, i) => Math.max(0, n - (before.latency.counts[i] ?? 0)));
  return {
    name: now.name,
    operations: rate(before.operations, now.operations),
    errors: rate(before.errors, now.errors),
    read: rate(before.bytes_read, now.bytes_read),
    written: rate(before.bytes_written, now.bytes_written),
    p50: quantile(counts, 0.5),
    p99: quantile(counts, 0.99),
  };
}

// Null when the two make no rate: the server was started anew in between, or answered twice at once.
export function sampleOf(before: Activity, now: Activity): Sample | null {
  const seconds = (now.time_ns - before.time_ns) / 1e9;
  if (!(seconds > 0.1)) return null;
  const restarted = now.protocols.some((protocol) => {
    const earlier = before.protocols.find((other) => other.name === protocol.name);
    return earlier !== undefined && earlier.operations > protocol.operations;
  });
  if (restarted) return null;
  const protocols = now.protocols.flatMap((protocol) => {
    const earlier = before.protocols.find((other) => other.name === protocol.name);
    return earlier === undefined ? [] : [protocolRates(earlier, protocol, seconds)];
  });
  return { at: Date.parse(now.time) / 1000, protocols };
}
