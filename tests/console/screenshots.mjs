// Draws the pictures of docs/screenshots: screenshots.mjs FOLDER. A server with content and traffic is made for them.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser, openTab, pageNames, show, signIn } from './browser.mjs';
import { startServer } from './server.mjs';

const [folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const server = await startServer();

async function fill() {
  await server.call('PUT', '/v1/audit/policy?path=/test', { classes: ['write', 'delete', 'rename', 'denied'] });
  const sizes = { 'projects/apollo': 900_000, 'projects/gemini': 420_000, 'projects/mercury': 180_000, 'media/video': 1_600_000, 'media/photos': 700_000, 'home/ann': 240_000, 'home/bob': 130_000, archive: 520_000 };
  for (const [name, size] of Object.entries(sizes)) {
    for (let i = 1; i <= 3; i += 1) server.put(`${name}/part${i}.bin`, 'x'.repeat(size / i));
  }
  for (const [name, groups] of [['ann', [5000]], ['bob', [5000, 5001]], ['backup', []]]) await server.call('POST', '/v1/users', { name, groups, create_key: true });
  await server.call('PUT', '/v1/recycle/policy?path=/test/archive', { days: 30, bytes_max: 2 ** 30 });
  await server.call('PUT', '/v1/recycle/policy?path=/test/home', { days: 7 });
  for (const name of ['archive/part2.bin', 'home/bob/part3.bin']) server.s3('DELETE', name);
  await server.call('POST', '/v1/groups', { name: 'staff', gid: 5000 });
  await server.call('POST', '/v1/groups', { name: 'video', gid: 5001 });
  await server.call('POST', '/v1/exports', { name: 'projects', path: '/test/projects', protocols: ['nfs', 's3'], owner: 'ann', clients: [{ network: '10.0.0.0/8' }, { network: '10.9.0.0/16', read_only: true, squash: 'all' }] });
  await server.call('POST', '/v1/exports', { name: 'media', path: '/test/media', protocols: ['nfs'], read_only: true, clients: [{ network: '192.168.0.0/16' }] });
  await server.call('PUT', '/v1/quota?path=/test/projects', { bytes: 4 * 2 ** 20, soft_bytes: 3 * 2 ** 20, files: 1000 });
  await server.call('PUT', '/v1/quota?path=/test/home', { bytes: 2 ** 30, files: 10000 });
  await server.call('PUT', '/v1/quota?path=/test/media', { bytes: 5 * 2 ** 20 });
  await server.call('PUT', '/v1/quota?path=/test/home&children=true', { bytes: 20 * 2 ** 20 });
  await server.call('PUT', '/v1/qos/class?target=/test', { read_bytes: 100 * 2 ** 20, write_bytes: 50 * 2 ** 20, metadata_ops: 5000 });
  await server.call('PUT', '/v1/qos/class?target=user:ann', { weight: 300, read_ops: 2000 });
  await server.call('PUT', '/v1/qos/class?target=protocol:s3', { read_bytes: 200 * 2 ** 20, write_ops: 1000 });
  await server.call('PUT', '/v1/qos/class?target=client:10.9.0.0/16', { read_bytes: 20 * 2 ** 20 });
  await server.call('POST', '/v1/check', { read_data: true });
}

// Some traffic, until it is told to stop.
function traffic() {
  let stop = false;
  const done = (async () => {
    for (let i = 0; !stop; i += 1) {
      if (i % 4 === 0) server.put(`projects/apollo/new${i % 12}.bin`, 'y'.repeat(50_000 + (i % 7) * 40_000));
      else server.get(`media/video/part${(i % 3) + 1}.bin`);
      await new Promise((next) => setTimeout(next, 20));
    }
  })();
  return async () => {
    stop = true;
    await done;
  };
}

await fill();
const browser = await openBrowser();
const { page } = await openTab(browser, server);
await page.goto('/');
await page.screenshot({ path: join(folder, 'sign_in.png') });
await signIn(page, server);
const calm = traffic();
await page.waitForFunction(() => document.querySelector('.plot canvas') !== null);
// The lines need a few points, two seconds each.
await page.waitForTimeout(24_000);
await page.screenshot({ path: join(folder, 'overview.png') });
await show(page, 'qos');
await page.waitForFunction(() => /[1-9][\d.]* MiB\/s of/.test(document.querySelector('main')?.textContent ?? ''));
await page.screenshot({ path: join(folder, 'qos.png') });
await calm();
const places = { browse: '/test' };
for (const name of pageNames.filter((one) => one !== 'overview' && one !== 'qos')) {
  await show(page, name, places[name]);
  if (name === 'browse') await page.locator('.tree-map a').first().waitFor();
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
await show(page, 'exports');
await page.getByRole('button', { name: 'Connect to projects' }).click();
await page.locator('dialog[open] pre').waitFor();
await page.screenshot({ path: join(folder, 'connect.png') });
await page.keyboard.press('Escape');
await page.getByLabel('Colours').selectOption('dark');
await page.getByLabel('Language').selectOption('zh');
await show(page, 'overview');
await page.waitForFunction(() => document.querySelector('main tbody tr') !== null);
await page.screenshot({ path: join(folder, 'overview_dark_zh.png') });
await browser.close();
await server.stop();
