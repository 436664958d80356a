// The console in a real browser, against a real server: every page, the main tasks, the keyboard alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, openBrowser, openTab, pageNames, settled, show, signIn, tabTo } from './browser.mjs';
import { startServer } from './server.mjs';

let server;
let browser;
before(async () => {
  server = await startServer();
  server.put('projects/2026/report.txt', 'a report');
  server.put('projects/big.bin', 'x'.repeat(100_000));
  server.put('a%20b/%C3%BC.txt', 'an odd name');
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// Runs `work` in a fresh tab; whatever the console of the browser complains about fails the test.
function inTab(name, options, work) {
  test(name, async () => {
    const tab = await openTab(browser, server, options);
    try {
      await work(tab.page, tab);
      assert.deepEqual(tab.complaints, []);
    } finally {
      await tab.context.close();
    }
  });
}
const dialog = (page) => page.locator('dialog[open]');
const said = (page, text) => page.locator('.toast', { hasText: text }).waitFor();
const rowOf = (page, name) => page.locator('main tbody tr', { has: page.getByRole('rowheader', { name, exact: true }) });

test('the files are served without a token, and nothing else is', async () => {
  const page = await fetch(`${server.url}/`);
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-security-policy'), /default-src 'self'/);
  const html = await page.text();
  assert.doesNotMatch(html, /https?:\/\//);
  for (const [, name] of html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
    const asset = await fetch(server.url + name);
    assert.equal(asset.status, 200, name);
    assert.match(asset.headers.get('cache-control'), /immutable/);
    assert.ok((await asset.text()).length > 100);
  }
  assert.equal((await fetch(`${server.url}/`, { headers: { 'If-None-Match': page.headers.get('etag') } })).status, 304);
  assert.equal((await fetch(`${server.url}/assets/nothing.js`)).status, 404);
  assert.equal((await fetch(`${server.url}/v1/activity`)).status, 401);
});

test('a wrong token is refused in the words of the server, and a good one is let in', async () => {
  const { page, context } = await openTab(browser, server);
  await page.goto('/');
  await assertAccessible(page, 'sign in');
  await page.getByLabel('Token').fill('nonsense');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').filter({ hasText: 'Sign in again with a token that is valid.' }).waitFor();
  await page.getByLabel('Token').fill(server.token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  // A token that was taken away ends the session at the next request, and says why.
  await page.evaluate(() => sessionStorage.setItem('stoa.token', 'stale'));
  await page.reload();
  await page.getByRole('alert').filter({ hasText: 'You were signed out.' }).waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.getItem('stoa.token')), null);
  await context.close();
});

for (const [language, theme] of [['en-GB', 'light'], ['zh-CN', 'dark']]) {
  inTab(`every page, ${language}, ${theme}: no complaint, accessible`, { language, theme }, async (page) => {
    await server.call('PUT', '/v1/quota?path=/test', { bytes: 1_000_000, soft_bytes: 500_000 });
    await server.call('PUT', '/v1/qos/class?target=/test', { read_bytes: 100_000_000, weight: 200 });
    await signIn(page, server);
    assert.equal(await page.evaluate(() => document.documentElement.lang), language);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
    for (const name of pageNames) {
      await show(page, name);
      assert.ok((await page.locator('main h1').innerText()).length > 1, name);
      await assertAccessible(page, `${name} ${language} ${theme}`);
    }
  });
}

inTab('language and colours can be switched, and stay', {}, async (page) => {
  await signIn(page, server);
  await page.getByLabel('Language').selectOption('zh');
  await page.getByRole('heading', { name: '概览' }).waitFor();
  await page.getByLabel('配色').selectOption('dark');
  await page.reload();
  await page.getByRole('heading', { name: '概览' }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
});

inTab('the overview is live', {}, async (page) => {
  await signIn(page, server);
  const protocols = page.getByRole('table', { name: 'Protocols now' });
  await protocols.getByRole('rowheader', { name: 's3' }).waitFor();
  // Who comes back finds the samples that were kept, before the server says which protocols there are.
  await page.getByRole('group', { name: 'Reading' }).getByText('/s').waitFor();
  await show(page, 'jobs');
  await show(page, 'overview');
  await protocols.getByRole('rowheader', { name: 's3' }).waitFor();
  const operations = () => page.evaluate(() => {
    const row = [...document.querySelectorAll('main tbody tr')].find((one) => one.querySelector('th')?.textContent === 's3');
    return Number.parseFloat(row?.cells[4]?.textContent ?? '0');
  });
  let stop = false;
  const load = (async () => {
    while (!stop) {
      server.get('projects/big.bin');
      await new Promise((next) => setImmediate(next));
    }
  })();
  try {
    await page.waitForFunction(() => [...document.querySelectorAll('main tbody tr')].some((row) => row.querySelector('th')?.textContent === 's3' && Number.parseFloat(row.cells[4].textContent) > 0));
    assert.ok((await operations()) >= 0);
  } finally {
    stop = true;
    await load;
  }
  assert.ok((await page.locator('.plot canvas').count()) === 3);
});

inTab('users, keys, groups', {}, async (page) => {
  await signIn(page, server);
  await show(page, 'users');
  await page.getByRole('button', { name: 'Create a user' }).click();
  await dialog(page).getByLabel('Name').fill('ann');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const secret = dialog(page).locator('pre');
  await secret.filter({ hasText: 'AWS_SECRET_ACCESS_KEY=' }).waitFor();
  const { key } = { key: /AWS_ACCESS_KEY_ID=(\S+)/.exec(await secret.innerText())[1] };
  await page.keyboard.press('Escape');
  await rowOf(page, 'ann').getByRole('button', { name: 'S3 keys of ann' }).click();
  await dialog(page).getByRole('rowheader', { name: key }).waitFor();
  await dialog(page).getByRole('button', { name: `Disable: ${key}` }).click();
  await dialog(page).getByText('disabled').waitFor();
  assert.equal((await server.call('GET', '/v1/users/ann')).keys[0].enabled, false);
  await dialog(page).getByRole('button', { name: 'Add a key pair' }).click();
  await page.waitForFunction(() => document.querySelectorAll('dialog[open] tbody tr').length === 2);
  await dialog(page).getByRole('button', { name: `Remove ${key}` }).click();
  await dialog(page).getByRole('button', { name: 'Really remove' }).click();
  await page.waitForFunction(() => document.querySelectorAll('dialog[open] tbody tr').length === 1);
  await page.keyboard.press('Escape');

  await show(page, 'groups');
  await page.getByRole('button', { name: 'Create a group' }).click();
  await dialog(page).getByLabel('Name').fill('staff');
  await dialog(page).getByLabel('gid').fill('5000');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await rowOf(page, 'staff').waitFor();
  assert.equal((await server.call('GET', '/v1/groups')).groups[0].gid, 5000);
  await page.getByRole('button', { name: 'Remove staff' }).click();
  await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByText('No group has a name yet.').waitFor();
});

inTab('exports, refusals, and how to connect', {}, async (page, { complaints }) => {
  await signIn(page, server);
  await show(page, 'exports');
  const create = async (name, clients) => {
    await page.getByRole('button', { name: 'Create an export' }).click();
    await dialog(page).getByLabel('Name').fill(name);
    await dialog(page).getByLabel('Clients').fill(clients);
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  };
  await create('team', '10.0.0.0/8 rw\n10.9.0.0/16 ro squash=all');
  await rowOf(page, 'team').waitFor();
  const made = await server.call('GET', '/v1/exports/team');
  assert.deepEqual(made.clients.map(({ network, read_only, squash }) => ({ network, read_only, squash })), [
    { network: '10.0.0.0/8', read_only: false, squash: 'root' },
    { network: '10.9.0.0/16', read_only: true, squash: 'all' },
  ]);

  // What the server refuses is said in its words, and what was typed stays.
  await create('other', 'nowhere rw');
  await dialog(page).getByRole('alert').filter({ hasText: 'nowhere' }).waitFor();
  assert.equal(await dialog(page).getByLabel('Name').inputValue(), 'other');
  await page.keyboard.press('Escape');
  assert.equal(complaints.splice(0).filter((text) => !text.includes('400')).length, 0);

  await page.getByRole('button', { name: 'Connect to team' }).click();
  await dialog(page).locator('pre').filter({ hasText: `vers=4.2,port=${server.nfsPort} 127.0.0.1:/team` }).waitFor();
  await assertAccessible(page, 'connect');
  await dialog(page).getByRole('tab', { name: 'boto3' }).click();
  await dialog(page).locator('pre').filter({ hasText: `endpoint_url="${server.s3Url}"` }).waitFor();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Change team' }).click();
  await dialog(page).getByLabel('read only').check();
  await assertAccessible(page, 'change an export');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await said(page, 'team was saved.');
  const changed = await server.call('GET', '/v1/exports/team');
  assert.equal(changed.read_only, true);
  assert.equal(changed.native_tls, 'offered');
  assert.deepEqual(changed.clients, made.clients);

  // This server has no certificate for native clients: that is said, and nothing is changed.
  await page.getByRole('button', { name: 'Change team' }).click();
  assert.equal(await dialog(page).getByLabel('Native clients must use TLS').count(), 0);
  await dialog(page).getByLabel('Native protocol').check();
  await dialog(page).getByLabel('Native clients must use TLS').check();
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await dialog(page).getByRole('alert').filter({ hasText: 'certificate' }).waitFor();
  await page.keyboard.press('Escape');
  assert.equal((await server.call('GET', '/v1/exports/team')).native_tls, 'offered');
  assert.equal(complaints.splice(0).filter((text) => !text.includes('400')).length, 0);
  await page.getByRole('button', { name: 'Remove team' }).click();
  await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
  await said(page, 'team was removed.');
});

inTab('quotas', {}, async (page, { complaints }) => {
  await signIn(page, server);
  await show(page, 'quotas');
  await page.getByRole('button', { name: 'Set a quota' }).click();
  await dialog(page).getByLabel('Directory', { exact: true }).fill('/test/projects');
  await dialog(page).getByLabel('Bytes, never more than').fill('lots');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await dialog(page).getByRole('alert').filter({ hasText: 'bytes' }).waitFor();
  assert.equal(complaints.splice(0).filter((text) => !text.includes('400')).length, 0);
  await dialog(page).getByLabel('Bytes, never more than').fill('1GiB');
  await dialog(page).getByLabel('Files, never more than').fill('1000');
  await dialog(page).getByLabel('Count what is in recycle bins').uncheck();
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await rowOf(page, '/test/projects').getByText('97.7 KiB of 1 GiB').waitFor();
  await rowOf(page, '/test/projects').getByText('open but deleted').waitFor();
  const { limits } = await server.call('GET', '/v1/quota?path=/test/projects');
  assert.equal(limits.bytes, 2 ** 30);
  assert.equal(limits.files, 1000);
  assert.equal(limits.grace_seconds, 7 * 86400);
  assert.deepEqual(limits.count, ['open_but_deleted', 'multipart']);
  await page.getByRole('button', { name: 'Remove /test/projects' }).click();
  await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
  await said(page, '/test/projects was removed.');
});

inTab('health names quotas that are full, nearly so, or above a soft limit', {}, async (page) => {
  const limits = { full: { bytes: 100, files: 1000 }, nearly: { bytes: 105 }, soft: { bytes: 10_000, soft_bytes: 10, grace_seconds: 86400 }, late: { soft_bytes: 10, grace_seconds: 0 }, roomy: { bytes: 1000 } };
  for (const [name, limit] of Object.entries(limits)) {
    server.put(`filled/${name}/f`, 'x'.repeat(100));
    await server.call('PUT', `/v1/quota?path=/test/filled/${name}`, limit);
  }
  await signIn(page, server);
  await show(page, 'health');
  const table = page.getByRole('table', { name: 'Quotas that fill up' });
  const row = (name) => table.getByRole('row').filter({ hasText: `/test/filled/${name}` });
  await row('full').getByText('full', { exact: true }).waitFor();
  await row('full').getByRole('meter', { name: 'Bytes' }).waitFor();
  assert.equal(await row('full').getByRole('meter', { name: 'Bytes' }).getAttribute('aria-valuenow'), '100');
  await row('nearly').getByText('nearly full', { exact: true }).waitFor();
  await row('soft').getByText('growth is refused from').waitFor();
  await row('late').getByText('growth is refused since').waitFor();
  assert.equal(await row('roomy').count(), 0);
  await assertAccessible(page, 'health with filled quotas');
  await row('full').getByRole('link', { name: '/test/filled/full: to the quotas' }).click();
  await page.getByRole('heading', { name: 'Quotas', level: 1 }).waitFor();
  await page.getByLabel('Language').selectOption('zh');
  await show(page, 'health');
  await page.getByRole('table', { name: '即将用满的配额' }).getByText('已满', { exact: true }).waitFor();
  for (const name of Object.keys(limits)) await server.call('DELETE', `/v1/quota?path=/test/filled/${name}`);
  await page.reload();
  // The events below name them still.
  const left = page.getByRole('table', { name: '即将用满的配额' });
  await page.getByText('没有配额用到 90% 以上').or(left).waitFor();
  assert.equal(await left.getByText('/test/filled/').count(), 0);
});

inTab('the report of a day tells bytes by user and growth by directory', {}, async (page, { complaints }) => {
  await server.call('PUT', '/v1/audit/policy?path=/test', { classes: ['write', 'delete', 'read'] });
  server.put('reported/f', 'x'.repeat(5000));
  await signIn(page, server);
  await show(page, 'audit');
  const bytesBy = page.getByRole('table', { name: 'Most bytes written' });
  // The log is written in the background: what was just done comes with the next look.
  const day = page.getByLabel('Day (UTC)');
  const today = await day.inputValue();
  for (let looks = 0; (await bytesBy.count()) === 0 && looks < 100; looks += 1) {
    const answered = page.waitForResponse((answer) => answer.url().includes('/v1/audit/report'));
    await day.fill('');
    await day.fill(today);
    await answered;
    await settled(page);
  }
  await bytesBy.getByRole('rowheader', { name: 'root', exact: true }).waitFor();
  await page.getByRole('table', { name: 'Operations', exact: true }).getByRole('rowheader', { name: 'write', exact: true }).or(page.getByRole('table', { name: 'Operations', exact: true }).getByRole('rowheader', { name: 'create', exact: true })).first().waitFor();
  await page.getByRole('heading', { name: /^Growth of directories/ }).or(page.getByText('not known')).first().waitFor();
  await assertAccessible(page, 'the report of a day');
  // A day without a log is no error.
  await day.fill('2001-01-01');
  await page.getByText('There is no audit log of that day').waitFor();
  assert.equal(complaints.splice(0).filter((text) => !text.includes('404')).length, 0);
  await day.fill(today);
  await bytesBy.waitFor();
  await page.getByLabel('Language').selectOption('zh');
  await page.getByRole('table', { name: '写入最多的用户' }).waitFor();
  await server.call('DELETE', '/v1/audit/policy?path=/test');
});

inTab('the recycle bin gives back what was replaced', {}, async (page, { complaints }) => {
  await server.call('PUT', '/v1/recycle/policy?path=/test', {});
  server.put('letters/report.txt', 'first');
  server.put('letters/report.txt', 'second one');
  await signIn(page, server);
  await show(page, 'recycle');
  await page.getByLabel('Directory', { exact: true }).fill('/test');
  await page.getByRole('button', { name: 'Go', exact: true }).click();
  await page.getByRole('row', { name: '/test keeps what is deleted; age: 14 days, size: no limit' }).waitFor();
  await page.locator('main tbody tr', { hasText: '/test/letters/report.txt' }).waitFor();
  await page.getByRole('button', { name: 'Restore report.txt' }).click();
  await dialog(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await dialog(page).getByRole('alert').filter({ hasText: 'something of that name is there again' }).waitFor();
  assert.equal(complaints.splice(0).filter((text) => !text.includes('409')).length, 0);
  await dialog(page).getByLabel('To', { exact: true }).fill('/test/letters/old.txt');
  await dialog(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await said(page, 'report.txt is back.');
  await page.getByText('Nothing was deleted here.').waitFor();
  assert.equal((await server.call('GET', '/v1/stat?path=/test/letters/old.txt')).size, 5);
  assert.equal((await server.call('GET', '/v1/stat?path=/test/letters/report.txt')).size, 10);
  await server.call('DELETE', '/v1/recycle/policy?path=/test');
});

inTab('the audit is searched by user, path, operation and result', {}, async (page) => {
  const { key: ben } = await server.call('POST', '/v1/users', { name: 'ben', create_key: true });
  await server.call('PUT', '/v1/audit/policy?path=/test', { classes: ['write', 'delete', 'denied'] });
  server.put('books/one.txt', 'one');
  server.put('books/two.txt', 'two');
  assert.equal(server.s3('DELETE', 'books/one.txt'), 204);
  assert.equal(server.s3('PUT', 'books/three.txt', { content: 'three', user: ben }), 403);
  await signIn(page, server);
  await show(page, 'audit');
  const records = page.getByRole('table', { name: 'Records' });
  const search = async (fields) => {
    for (const label of ['Path', 'User', 'Operation', 'Result']) await page.getByRole('search').getByLabel(label, { exact: true }).fill(fields[label] ?? '');
    const answered = page.waitForResponse((answer) => answer.url().includes('/v1/audit?'));
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await answered;
    await settled(page);
  };
  const rows = async () => (await records.locator('tbody tr').allInnerTexts()).map((row) => row.split('\t').map((cell) => cell.trim()));

  await search({ Path: '/test/books' });
  await records.getByRole('rowheader', { name: '/test/books/two.txt' }).first().waitFor();
  assert.ok((await rows()).length >= 4);
  await search({ Path: '/test/books', User: 'ben' });
  await page.waitForFunction(() => [...document.querySelectorAll('[aria-label=Records] tbody tr')].every((row) => row.cells[1].textContent === 'ben'));
  assert.deepEqual(new Set((await rows()).map((row) => row[6])), new Set(['access']));
  await search({ Path: '/test/books', Operation: 'remove' });
  await page.waitForFunction(() => document.querySelectorAll('[aria-label=Records] tbody tr').length === 1);
  assert.deepEqual((await rows()).map((row) => [row[2], row[3], row[4], row[6]]), [['remove', '/test/books/one.txt', 's3', 'ok']]);
  await search({ Result: 'access' });
  await records.locator('tbody tr', { hasText: 'ben' }).first().waitFor();
  // What a server refuses by itself has no user; what was asked for, and who that claimed to be, is shown.
  assert.equal(server.s3('PUT', 'books/four.txt', { content: 'four', user: { access_key: ben.access_key, secret_key: 'x'.repeat(40) } }), 403);
  await search({ Operation: 'refused' });
  await records.locator('tbody tr', { hasText: `access key ${ben.access_key}, not proven` }).filter({ hasText: 'four.txt' }).waitFor();
  // The report of the day, too, says that nobody is known to have been denied it.
  await show(page, 'jobs');
  await show(page, 'audit');
  await page.getByRole('table', { name: 'Most denials' }).getByRole('rowheader', { name: '–', exact: true }).waitFor();
  await search({ Path: '/test/nothing' });
  await page.getByText('Nothing was recorded that matches.').waitFor();

  // What is recorded where.
  const policy = page.locator('section', { has: page.getByRole('heading', { name: 'What is recorded' }) });
  await policy.getByLabel('Directory').fill('/test/books');
  await policy.getByRole('button', { name: 'Go', exact: true }).click();
  await policy.getByRole('definition').filter({ hasText: /^\/test$/ }).waitFor();
  await policy.getByRole('button', { name: 'Change' }).click();
  await dialog(page).getByLabel('deleting').uncheck();
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await said(page, '/test/books was saved.');
  assert.deepEqual((await server.call('GET', '/v1/audit/policy?path=/test/books')).classes, ['write', 'denied']);
  // Where policies are is shown, and leads to each.
  await policy.getByRole('row', { name: '/test/books writing, whatever is denied' }).waitFor();
  await policy.getByRole('button', { name: 'Show the policy of /test', exact: true }).click();
  await policy.getByRole('definition').filter({ hasText: 'writing, deleting, whatever is denied' }).waitFor();
  await policy.getByRole('button', { name: 'Show the policy of /test/books' }).click();
  await policy.getByRole('button', { name: 'As the directory above' }).click();
  await dialog(page).getByRole('button', { name: 'As the directory above' }).click();
  await page.waitForFunction(() => document.querySelector('dialog[open]') === null);
  assert.equal((await server.call('GET', '/v1/audit/policy?path=/test/books')).set_on, '/test');
  await policy.getByRole('button', { name: 'Show the policy of /test/books' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'are whole' }).waitFor();
  await server.call('DELETE', '/v1/audit/policy?path=/test');
});

// Makes a token in the browser, and gives back the secret that is shown once.
async function makeToken(page, name, role, directory) {
  await page.getByRole('button', { name: 'Create a token' }).click();
  await dialog(page).getByLabel('Name').fill(name);
  await dialog(page).getByLabel('Role').selectOption(role);
  if (directory !== undefined) await dialog(page).getByLabel('Directory').fill(directory);
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const secret = await dialog(page).locator('pre').innerText();
  await page.keyboard.press('Escape');
  await rowOf(page, name).waitFor();
  assert.ok(!(await page.content()).includes(secret));
  return secret;
}

inTab('tokens: each role, its secret once, what it may, and its end', {}, async (page, { complaints }) => {
  await signIn(page, server);
  await show(page, 'tokens');
  const secrets = {};
  for (const role of ['admin', 'operator', 'auditor']) secrets[role] = await makeToken(page, `the ${role}`.replace(' ', '-'), role);
  // An owner needs a directory that is there.
  await page.getByRole('button', { name: 'Create a token' }).click();
  await dialog(page).getByLabel('Name').fill('lost');
  await dialog(page).getByLabel('Role').selectOption('owner');
  await dialog(page).getByLabel('Directory').fill('/test/nowhere');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await dialog(page).getByRole('alert').filter({ hasText: '/test/nowhere' }).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(complaints.splice(0).filter((text) => !text.includes('404')).length, 0);
  secrets.owner = await makeToken(page, 'the-owner', 'owner', '/test/projects');
  await page.reload();
  await rowOf(page, 'the-owner').getByText('/test/projects').waitFor();
  for (const secret of Object.values(secrets)) assert.ok(!(await page.content()).includes(secret));

  const as = async (role, work) => {
    const tab = await openTab(browser, server);
    try {
      await signIn(tab.page, server, secrets[role]);
      await tab.page.locator('header.top').getByText(`the-${role}`).waitFor();
      await work(tab.page, tab.complaints);
      assert.deepEqual(tab.complaints, [], role);
    } finally {
      await tab.context.close();
    }
  };
  // The server says no, in its words, and what it wants instead.
  const refused = async (tab, noise, need) => {
    await dialog(tab).getByRole('alert').filter({ hasText: `this needs the role ${need}` }).waitFor();
    await tab.keyboard.press('Escape');
    assert.equal(noise.splice(0).filter((text) => !text.includes('403')).length, 0);
  };
  const createGroup = async (tab, name) => {
    await show(tab, 'groups');
    await tab.getByRole('button', { name: 'Create a group' }).click();
    await dialog(tab).getByLabel('Name').fill(name);
    await dialog(tab).getByRole('button', { name: 'Create', exact: true }).click();
  };
  const createExport = async (tab, name) => {
    await show(tab, 'exports');
    await tab.getByRole('button', { name: 'Create an export' }).click();
    await dialog(tab).getByLabel('Name').fill(name);
    await dialog(tab).getByRole('button', { name: 'Create', exact: true }).click();
  };
  await as('admin', async (tab) => {
    await createGroup(tab, 'by-admin');
    await rowOf(tab, 'by-admin').waitFor();
  });
  await as('operator', async (tab, noise) => {
    assert.equal(await tab.locator('nav.side a[href="#/tokens"]').count(), 0, 'they are for administrators');
    await createExport(tab, 'by-operator');
    await rowOf(tab, 'by-operator').waitFor();
    await createGroup(tab, 'by-operator');
    await refused(tab, noise, 'admin');
  });
  await as('auditor', async (tab, noise) => {
    await createExport(tab, 'by-auditor');
    await refused(tab, noise, 'operator');
    await show(tab, 'audit');
    await tab.getByRole('heading', { name: 'Search' }).waitFor();
    // The token goes while it is in use: the next request ends the session, and says why.
    await page.bringToFront();
    await page.getByRole('button', { name: 'Remove the-auditor' }).click();
    await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
    await said(page, 'the-auditor was removed.');
    await tab.evaluate(() => { window.location.hash = '#/exports'; });
    await tab.getByRole('alert').filter({ hasText: 'You were signed out.' }).waitFor();
    assert.equal(await tab.evaluate(() => sessionStorage.getItem('stoa.token')), null);
    assert.equal(noise.splice(0).filter((text) => !text.includes('401')).length, 0);
  });
  assert.deepEqual((await server.call('GET', '/v1/exports')).exports.map(({ name }) => name).filter((name) => name.startsWith('by-')), ['by-operator']);
  assert.deepEqual((await server.call('GET', '/v1/groups')).groups.map(({ name }) => name).filter((name) => name.startsWith('by-')), ['by-admin']);
  await server.call('DELETE', '/v1/exports/by-operator');
  await server.call('DELETE', '/v1/groups/by-admin');
  for (const role of ['admin', 'operator', 'owner']) await server.call('DELETE', `/v1/tokens/the-${role}`);
});

// The bin is of the export, which others use, too: its owner sees, restores and purges what is the directory's, and nothing else.
inTab('who owns a directory gets back what was deleted in it', {}, async (page, { complaints }) => {
  await server.call('PUT', '/v1/recycle/policy?path=/test', {});
  for (const key of ['projects/plan.txt', 'projects/2026/old.txt', 'others.txt']) {
    server.put(key, 'text');
    assert.equal(server.s3('DELETE', key), 204);
  }
  const { token } = await server.call('POST', '/v1/tokens', { name: 'projects', role: 'owner', directory: '/test/projects' });
  await signIn(page, server, token);
  // Only what is about directories is offered, and that stays so when the page is loaded anew.
  const offered = () => page.locator('nav.side li a').allInnerTexts();
  await show(page, 'recycle');
  assert.equal((await offered()).length, 3);
  await page.reload();
  await settled(page);
  await page.locator('nav.side li a').first().waitFor();
  assert.equal((await offered()).length, 3);
  assert.equal(await page.getByLabel('Directory', { exact: true }).inputValue(), '/test/projects');
  await page.locator('main tbody tr', { hasText: '/test/projects/plan.txt' }).waitFor();
  assert.equal(await page.locator('main tbody tr').count(), 2);
  await assertAccessible(page, 'recycle bin of an owner');
  await page.getByRole('button', { name: 'Restore plan.txt' }).click();
  await dialog(page).getByLabel('To', { exact: true }).fill('/test/plan.txt');
  await dialog(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await dialog(page).getByRole('alert').filter({ hasText: 'this is not in it' }).waitFor();
  assert.equal(complaints.splice(0).filter((text) => !text.includes('403')).length, 0);
  await dialog(page).getByLabel('To', { exact: true }).fill('');
  await dialog(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await said(page, 'plan.txt is back.');
  assert.equal((await server.call('GET', '/v1/stat?path=/test/projects/plan.txt')).size, 4);
  await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 1);
  await page.getByRole('button', { name: 'Purge by age' }).click();
  await dialog(page).getByRole('button', { name: 'Purge', exact: true }).click();
  await page.getByText('Nothing was deleted here.').waitFor();
  assert.deepEqual((await server.call('GET', '/v1/recycle?path=/test')).items.map(({ path }) => path), ['/test/others.txt']);
  await show(page, 'browse');
  await page.getByRole('heading', { name: 'What /test/projects holds' }).waitFor();
  // Quotas: those in the directory, with all that can be done to one.
  for (const path of ['/test', '/test/projects/2026']) await server.call('PUT', `/v1/quota?path=${path}`, { files: 1000 });
  await server.call('PUT', '/v1/quota?path=/test/projects/2026&children=true', { files: 100 });
  await server.call('PUT', '/v1/quota/owners?path=/test/projects/2026', { counted: true });
  await show(page, 'quotas');
  await rowOf(page, '/test/projects/2026').getByRole('button', { name: 'Owners in /test/projects/2026' }).waitFor();
  assert.ok((await page.locator('main tbody tr').allInnerTexts()).every((text) => text.includes('/test/projects')));
  await assertAccessible(page, 'quotas of an owner');
  await server.call('PUT', '/v1/quota/owners?path=/test/projects/2026', { counted: false });
  for (const query of ['/test', '/test/projects/2026', '/test/projects/2026&children=true']) await server.call('DELETE', `/v1/quota?path=${query}`);
  await server.call('DELETE', '/v1/tokens/projects');
  await server.call('POST', '/v1/recycle/purge', { path: '/test' });
  await server.call('DELETE', '/v1/recycle/policy?path=/test');
});

inTab('what keeps somebody from something, and what happened, is said in the language', { language: 'zh-CN' }, async (page) => {
  server.put('tight/f', 'x'.repeat(100));
  await server.call('PUT', '/v1/quota?path=/test/tight', { bytes: 100, soft_bytes: 10 });
  await signIn(page, server);
  await show(page, 'browse', '/test/tight');
  await page.getByText('/test/tight 的配额已用完：100 B / 100 B；增长将被拒绝').waitFor();
  await page.locator('.notice').getByText('请在“配额”页面提高 /test/tight 的配额，或删除其下的内容。').waitFor();
  await assertAccessible(page, 'causes in Chinese');
  await show(page, 'health');
  const event = page.getByRole('table', { name: '事件' }).getByRole('row').filter({ hasText: '/test/tight' }).first();
  await event.getByText('超过软限制：100 B（软限制 10 B），1 个；宽限期（7 天）之后增长将被拒绝').waitFor();
  await page.getByLabel('语言').selectOption('en');
  await page.getByText('the directory is above a soft limit: 100 bytes (soft limit 10), 1 files').first().waitFor();
  await show(page, 'browse', '/test/tight');
  await page.getByText('the quota of /test/tight is used up: 100 of 100 bytes').waitFor();
  await page.locator('.notice').getByText('Raise the quota of /test/tight on the page Quotas, or make room below it.').waitFor();
  await server.call('DELETE', '/v1/quota?path=/test/tight');
});

inTab('what the disks have free is not what a quota leaves', {}, async (page) => {
  await signIn(page, server);
  const tile = page.getByRole('group', { name: 'Capacity' });
  await tile.getByText('free of').waitFor();
  const free = await tile.locator('.meter-text').innerText();
  await server.call('PUT', '/v1/quota?path=/', { bytes: 200 * 2 ** 20 });
  await tile.getByText('The quota of / leaves').waitFor();
  // The same disks as before, as far as others let them alone.
  assert.equal((await tile.locator('.meter-text').innerText()).replace(/^.* of /, ''), free.replace(/^.* of /, ''));
  await server.call('DELETE', '/v1/quota?path=/');
  await tile.getByText('The quota of / leaves').waitFor({ state: 'detached' });
});

inTab('long lists come in pages, and what looks records up has all of them', {}, async (page) => {
  const names = Array.from({ length: 205 }, (_, i) => `many${String(i).padStart(4, '0')}`);
  for (const name of names) await server.call('POST', '/v1/groups', { name });
  await server.call('POST', '/v1/users', { name: 'of-the-last', groups: [(await server.call('GET', '/v1/groups?after=many0203')).groups[0].gid] });
  await signIn(page, server);
  await show(page, 'users');
  await rowOf(page, 'of-the-last').getByText('many0204').waitFor();
  await show(page, 'groups');
  assert.equal(await page.locator('main tbody tr').count(), 200);
  await page.getByRole('button', { name: 'Next page' }).click();
  await rowOf(page, 'many0204').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Next page' }).count(), 0);
  await page.getByRole('button', { name: 'Back' }).click();
  await rowOf(page, 'many0000').waitFor();
  await server.call('DELETE', '/v1/users/of-the-last');
  for (const name of names) await server.call('DELETE', `/v1/groups/${name}`);
});

inTab('limits of throughput', {}, async (page) => {
  await signIn(page, server);
  await show(page, 'qos');
  await page.getByRole('button', { name: 'Set limits' }).click();
  await dialog(page).getByLabel('Kind').selectOption('protocol');
  await dialog(page).getByLabel('Protocol').fill('s3');
  await dialog(page).getByLabel('Reading', { exact: true }).fill('100MiB');
  await dialog(page).getByLabel('Metadata operations', { exact: true }).fill('5000');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await rowOf(page, 'protocol:s3').getByText('of 100 MiB/s').waitFor();
  const qosClass = await server.call('GET', '/v1/qos/class?target=protocol:s3');
  assert.equal(qosClass.limits.read_bytes, 100 * 2 ** 20);
  assert.equal(qosClass.limits.metadata_ops, 5000);
  assert.equal(qosClass.limits.write_bytes, null);
  await page.getByRole('button', { name: 'Remove protocol:s3' }).click();
  await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
  await said(page, 'protocol:s3 was removed.');
});

inTab('browsing by tree map, table and path', {}, async (page) => {
  await signIn(page, server);
  await show(page, 'browse');
  await page.locator('.tree-map a[aria-label^="test/"]').click();
  await page.getByRole('heading', { name: 'What /test holds' }).waitFor();
  await page.locator('main tbody').getByRole('link', { name: 'projects/' }).click();
  await page.getByRole('heading', { name: 'What /test/projects holds' }).waitFor();
  await rowOf(page, 'big.bin').getByText('97.7 KiB').waitFor();
  await page.locator('.crumbs').getByRole('link', { name: 'test', exact: true }).click();
  await page.locator('main tbody').getByRole('link', { name: 'a b/' }).click();
  await rowOf(page, 'ü.txt').waitFor();
  await page.getByLabel('Path').fill('/test/projects/2026');
  await page.keyboard.press('Enter');
  await rowOf(page, 'report.txt').waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'What /test/a b holds' }).waitFor();
});

inTab('a check, from its start to its report', {}, async (page) => {
  await signIn(page, server);
  await show(page, 'jobs');
  await page.getByRole('button', { name: 'Check content, too' }).click();
  await page.getByText('No problem was found.').waitFor();
  assert.equal((await server.call('GET', '/v1/check')).read_data, true);
});

inTab('with the keyboard alone', {}, async (page) => {
  await page.goto('/');
  await page.waitForFunction(() => document.activeElement?.tagName === 'INPUT');
  await page.keyboard.type(server.token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  // The heading of a new page has the focus; the navigation is before it.
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  await tabTo(page, page.locator('.skip'));
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');

  await tabTo(page, page.locator('nav.side a[href="#/exports"]'));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Exports', level: 1 }).waitFor();
  await settled(page);
  const opener = page.getByRole('button', { name: 'Create an export' });
  await tabTo(page, opener);
  await page.keyboard.press('Enter');
  await dialog(page).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'INPUT');
  await page.keyboard.type('keys');
  await page.keyboard.press('Enter');
  await rowOf(page, 'keys').waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === 'Create an export');

  await tabTo(page, page.getByRole('button', { name: 'Connect to keys' }));
  await page.keyboard.press('Space');
  await tabTo(page, dialog(page).getByRole('tab', { name: 'Linux, NFS 4.2' }));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('End');
  await dialog(page).getByRole('tab', { name: 'boto3', selected: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Connect to keys');

  await tabTo(page, page.getByRole('button', { name: 'Remove keys' }));
  await page.keyboard.press('Enter');
  await tabTo(page, dialog(page).getByRole('button', { name: 'Remove', exact: true }));
  await page.keyboard.press('Enter');
  await said(page, 'keys was removed.');

  await tabTo(page, page.locator('nav.side a[href="#/browse"]'));
  await page.keyboard.press('Enter');
  await page.locator('.tree-map a').first().waitFor();
  await tabTo(page, page.locator('.tree-map a').first());
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => window.location.hash.startsWith('#/browse/'));

  await tabTo(page, page.getByRole('button', { name: 'Sign out' }));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

inTab('on a wide screen every table shows all its columns', { width: 1280, height: 800 }, async (page) => {
  const targets = ['/test', 'protocol:s3', 'client:10.9.0.0/16', 'user:root'];
  const limits = { read_bytes: 2e9, write_bytes: 1e9, read_ops: 500_000, write_ops: 10_000, metadata_ops: 5000 };
  for (const target of targets) await server.call('PUT', `/v1/qos/class?target=${target}`, limits);
  server.put('projects/wide', 'x'.repeat(5000));
  await server.call('PUT', '/v1/quota?path=/test/projects', { bytes: 1_000_000, files: 1000, soft_bytes: 10, soft_files: 1 });
  await signIn(page, server);
  for (const name of pageNames) {
    await show(page, name);
    const cut = await page.locator('.table-frame').evaluateAll((frames) => frames.filter((frame) => frame.scrollWidth > frame.clientWidth + 1).map((frame) => frame.textContent.slice(0, 80)));
    assert.deepEqual(cut, [], name);
  }
  for (const target of targets) await server.call('DELETE', `/v1/qos/class?target=${target}`);
  await server.call('DELETE', '/v1/quota?path=/test/projects');
});

inTab('on a small screen nothing is cut off', { width: 400, height: 800 }, async (page) => {
  await signIn(page, server);
  for (const name of pageNames) {
    await show(page, name);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), name);
  }
});
