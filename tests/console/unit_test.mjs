// The pure functions of the console: numbers, rates, paths, commands.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';

const source = join(process.env.STOA_SOURCE, 'appliance', 'console', 'src');
async function load(name) {
  const { outputFiles } = await build({ entryPoints: [join(source, name)], bundle: true, format: 'esm', write: false, platform: 'neutral' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
const format = await load('format.ts');
const rates = await load('rates.ts');
const paths = await load('paths.ts');
const mount = await load('mount.ts');

test('bytes are shown with the unit that fits', () => {
  const rows = [[0, '0 B'], [1, '1 B'], [1023, '1,023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'], [1024 * 1023.9, '1 MiB'], [10 * 2 ** 30, '10 GiB'], [2 ** 60, '1 EiB'], [2 ** 63, '8 EiB'], [-2048, '−2 KiB']];
  for (const [value, text] of rows) assert.equal(format.bytes(value), text);
});

test('sizes are read as the command stoa reads them', () => {
  const rows = [['512', 512], ['512KiB', 524288], ['64MiB', 64 * 2 ** 20], ['2TB', 2e12], ['1.5 GiB', 1.5 * 2 ** 30], ['10k', 10240], ['7 b', 7], ['0', 0]];
  for (const [text, value] of rows) assert.equal(format.parseBytes(text), value, text);
  for (const text of ['', 'x', '-1', '1iB', '1 KiBi', '1e3', '9999EiB', '1,5GiB']) assert.equal(format.parseBytes(text), null, text);
});

test('what is written into a field is read back exactly', () => {
  for (const value of [0, 1, 1023, 1024, 1025, 10 * 2 ** 30, 2e12, 2 ** 40]) assert.equal(format.parseBytes(format.bytesText(value)), value);
});

test('times and shares', () => {
  assert.equal(format.duration(0), '0s');
  assert.equal(format.duration(3661), '1h 1m');
  assert.equal(format.duration(86400 * 7), '7d');
  assert.equal(format.duration(86400 * 3 + 3600 * 4, 'zh-CN'), '3天 4小时');
  assert.equal(format.duration(0, 'zh-CN'), '0秒');
  assert.equal(format.microseconds(null), '–');
  assert.equal(format.microseconds(999), '999 µs');
  assert.equal(format.microseconds(1500), '1.5 ms');
  assert.equal(format.microseconds(2_000_000), '2 s');
  assert.equal(format.percent(1, 0), '–');
  assert.equal(format.percent(1, 4), '25%');
  assert.equal(format.time(null), '–');
  assert.equal(format.time('soon'), 'soon');
});

const answer = (seconds, operations, read, counts) => ({
  time: '2026-11-22T10:00:00Z',
  time_ns: seconds * 1e9,
  protocols: [{ name: 'nfs', operations, errors: 0, bytes_read: read, bytes_written: 0, latency: { p50: null, p99: null, counts } }],
});

test('two answers make rates, and the latency of what came between them', () => {
  const sample = rates.sampleOf(answer(10, 100, 1000, [5, 0, 0, 0]), answer(12, 300, 5000, [5, 0, 10, 0]));
  assert.equal(sample.protocols[0].operations, 100);
  assert.equal(sample.protocols[0].read, 2000);
  assert.equal(sample.protocols[0].p50, 3);
  assert.ok(sample.protocols[0].p99 > 3.9 && sample.protocols[0].p99 <= 4);
});

test('no rate is made of answers that do not belong together', () => {
  assert.equal(rates.sampleOf(answer(10, 100, 0, []), answer(10, 100, 0, [])), null);
  assert.equal(rates.sampleOf(answer(1000, 100, 0, []), answer(2, 0, 0, [])), null);
  assert.equal(rates.sampleOf(answer(10, 100, 0, []), answer(12, 5, 0, [])), null); // started anew
  const quiet = rates.sampleOf(answer(10, 100, 0, [1, 2]), answer(12, 100, 0, [1, 2]));
  assert.equal(quiet.protocols[0].operations, 0);
  assert.equal(quiet.protocols[0].p50, null);
});

test('the last bucket is as good as it gets', () => {
  assert.equal(rates.quantile([], 0.5), null);
  assert.equal(rates.quantile([0, 0], 0.5), null);
  assert.equal(rates.quantile([4], 0.5), 0.5);
  assert.equal(rates.quantile([0, 0, 4], 1), 4);
});

test('paths keep names as they are, also those that are no UTF-8', () => {
  assert.equal(paths.ofText('/a b//c%/ü'), '/a%20b/c%25/%C3%BC');
  assert.equal(paths.text('/a%20b/%C3%BC'), '/a b/ü');
  assert.equal(paths.child('/', 'x?y'), '/x%3Fy');
  const odd = paths.child('/d', 'a\ufffd', Buffer.from([0x61, 0xff]).toString('base64'));
  assert.equal(odd, '/d/%61%FF');
  assert.equal(paths.text(odd), '/d/a\ufffd');
  assert.equal(paths.parent('/a/b'), '/a');
  assert.equal(paths.parent('/a'), '/');
  assert.deepEqual(paths.steps('/a%20b/c'), [{ name: 'a b', path: '/a%20b' }, { name: 'c', path: '/a%20b/c' }]);
});

const record = { name: 'team', path: '/team', protocols: ['nfs', 's3'], security: [], clients: [] };
const protocols = [{ name: 'nfs', open: true, address: '0.0.0.0:2049' }, { name: 's3', open: true, address: 'https://[::]:9000' }];
const lines = (system, ...rest) => mount.recipes(...rest).find((recipe) => recipe.system === system)?.lines;

test('commands name the host that the browser used, when the server listens everywhere', () => {
  assert.match(lines('linux4', record, protocols, 'nas'), /^sudo mkdir -p \/mnt\/team\nsudo mount -t nfs -o vers=4\.2 nas:\/team \/mnt\/team\n/);
  assert.match(lines('aws', record, protocols, 'nas'), /--endpoint-url https:\/\/nas:9000 s3 ls s3:\/\/team\//);
  assert.equal(lines('windows', record, protocols, 'nas'), 'mount -o anon \\\\nas\\team Z:');
});

test('commands have the port where it is another, and the security that is asked for', () => {
  const elsewhere = [{ name: 'nfs', open: true, address: '10.0.0.1:20490' }];
  const strict = { ...record, security: ['krb5p', 'krb5'] };
  assert.match(lines('linux3', strict, elsewhere, 'nas'), /-o sec=krb5p,vers=3,tcp,nolock,port=20490,mountport=20490,mountproto=tcp 10\.0\.0\.1:\/team/);
  assert.equal(lines('aws', strict, elsewhere, 'nas'), undefined);
});

test('names are quoted for the shell and for fstab', () => {
  const odd = { ...record, name: "ann's files" };
  assert.match(lines('linux4', odd, protocols, 'nas'), /'nas:\/ann'\\''s files'/);
  assert.match(lines('linux4', odd, protocols, 'nas'), /nas:\/ann's\\040files \/mnt\/ann's\\040files nfs/);
  assert.equal(mount.quoted('a b'), "'a b'");
});

test('closed protocols and protocols that the export has not give no command', () => {
  assert.deepEqual(mount.recipes(record, [{ name: 'nfs', open: false, address: '' }], 'nas'), []);
  assert.deepEqual(mount.recipes({ ...record, protocols: [] }, protocols, 'nas'), []);
});
