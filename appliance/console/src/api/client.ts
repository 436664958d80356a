// Requests to the admin interface. One way in, so that the token and the errors are handled in one place.

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: the server could not be reached
    readonly code: string,
    readonly cause: string, // more exact than the code; '' of a server that does not say it
    message: string,
  ) {
    super(message);
  }
  // A server of another version may not have it.
  get notOffered(): boolean {
    return this.status === 404 && this.code === 'no_such_route';
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Call = <T>(method: Method, url: string, body?: unknown, signal?: AbortSignal) => Promise<T>;

interface ErrorBody {
  error?: { code?: string; cause?: string; message?: string };
}

// `unauthorised` is told of every 401: the token is no longer good.
export function makeCall(token: string, unauthorised: (message: string) => void): Call {
  return async function call<T>(method: Method, url: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const headers: Record<string, string> = { Authorization: `Bearer ${token}` };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    let response: Response;
    try {
      response = await fetch(url, { method, headers, body: body === undefined ? null : JSON.stringify(body), signal: signal ?? null, cache: 'no-store' });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, 'unreachable', '', '');
    }
    const text = await response.text();
    let answer: unknown = null;
    try {
      answer = text === '' ? null : JSON.parse(text);
    } catch {
      throw new ApiError(response.status, 'no_json', '', text.slice(0, 200));
    }
    if (response.ok) return answer as T;
    const { error } = (answer ?? {}) as ErrorBody;
    const message = error?.message ?? response.statusText;
    if (response.status === 401) unauthorised(message);
    throw new ApiError(response.status, error?.code ?? '', error?.cause ?? '', message);
  };
}

// "/v1/x?a=1&b=2"; empty and undefined values are left out.
export function withQuery(url: string, query: Record<string, string | number | boolean | undefined>): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '' && value !== false)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${parts.join('&')}`;
}
