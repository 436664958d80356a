// Debian's Chromium without a window, and what all pages are looked at with.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const kArguments = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];
export const pageNames = ['overview', 'health', 'clients', 'browse', 'exports', 'recycle', 'quotas', 'qos', 'audit', 'users', 'groups', 'tokens', 'jobs'];
// Routes that a server may not have yet; the page then says so, and the browser notes the 404.
const kOptional = /\/v1\/(session|recycle|audit|tokens|events)/;

// Playwright gives it an empty folder of its own for its profile, and removes it.
export function openBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: kArguments });
}

// A fresh tab with storage of its own. `complaints` gathers what the browser's console was told.
export async function openTab(browser, server, { language = 'en-GB', theme = 'light', width = 1280, height = 800 } = {}) {
  const context = await browser.newContext({ locale: language, colorScheme: theme, viewport: { width, height }, reducedMotion: 'reduce', baseURL: server.url });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const { url } = message.location();
    if (!(message.text().includes('404') && kOptional.test(url))) complaints.push(`${message.text()} (${url})`);
  });
  return { context, page, complaints };
}

export async function signIn(page, server, token = server.token) {
  await page.goto('/');
  await page.locator('input[type=password]').fill(token);
  await page.keyboard.press('Enter');
  await page.locator('nav.side').waitFor();
}

// Shows the page and waits until it has what it asked for.
export async function show(page, name, path = '') {
  await page.evaluate((hash) => { window.location.hash = hash; }, `#/${name}${path}`);
  await page.locator(`nav.side a[href="#/${name}"][aria-current=page]`).waitFor();
  await page.locator('main h1').waitFor();
  await settled(page);
}

export async function settled(page) {
  // Right after the page was loaded anew there is nothing yet.
  await page.waitForFunction(() => document.querySelector('main h1') !== null && !/Loading…|正在加载…/.test(document.querySelector('main').textContent));
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// WCAG 2.2 A and AA, and axe's good practice.
export async function assertAccessible(page, where) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const found = violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)} ${node.failureSummary?.replace(/\s+/g, ' ') ?? ''}`));
  assert.deepEqual(found, [], where);
}

// Presses Tab until the focus is on what `selector` names, as somebody without a mouse does.
export async function tabTo(page, target) {
  for (let i = 0; i < 80; i += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not get to ${target}`);
}
