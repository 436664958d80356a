// A throw-away stoad (tests/serve) for the time of a test.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = mkdtempSync(join(tmpdir(), 'stoa-console-test.'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

function fileOf(content) {
  const file = join(folder, 'content');
  writeFileSync(file, content);
  return file;
}

export async function startServer() {
  const child = spawn(join(process.env.STOA_SOURCE, 'tests', 'serve'), ['--engine', 'memory'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.on('exit', done));
  const value = {};
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'READY') break;
    const equals = line.indexOf('=');
    value[line.slice(0, equals)] = line.slice(equals + 1);
  }
  if (value.STOA_ADMIN_URL === undefined) throw new Error('tests/serve did not start');

  const server = {
    url: value.STOA_ADMIN_URL,
    token: value.STOA_ADMIN_TOKEN,
    nfsPort: value.STOA_NFS_PORT,
    s3Url: value.STOA_S3_URL,
    async stop() {
      child.stdin.end();
      await ended;
    },
    async call(method, path, body) {
      const headers = { Authorization: `Bearer ${value.STOA_ADMIN_TOKEN}` };
      const answer = await fetch(server.url + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text === '' ? null : JSON.parse(text);
    },
    // As an S3 client, which signs what it sends: the status of the answer. `user`: of whom the keys are.
    s3(method, key, { content = '', user = { access_key: value.STOA_S3_ACCESS_KEY, secret_key: value.STOA_S3_SECRET_KEY } } = {}) {
      const hash = createHash('sha256').update(content).digest('hex');
      const config = `user = "${user.access_key}:${user.secret_key}"\nurl = "${server.s3Url}/test/${key}"\noutput = "/dev/null"\n`;
      const body = content === '' ? [] : ['--data-binary', `@${fileOf(content)}`];
      const result = spawnSync(
        'curl',
        ['-sS', '--noproxy', '*', '--config', '-', '--aws-sigv4', 'aws:amz:us-east-1:s3', '-H', `x-amz-content-sha256: ${hash}`, '-X', method, '-w', '%{http_code}', ...body],
        { input: config, encoding: 'utf8' },
      );
      if (result.status !== 0) throw new Error(`${method} ${key}: ${result.stderr}`);
      return Number(result.stdout);
    },
    put(key, content) {
      const status = server.s3('PUT', key, { content });
      if (status !== 200) throw new Error(`PUT ${key}: ${status}`);
    },
    get: (key) => server.s3('GET', key),
  };
  return server;
}
