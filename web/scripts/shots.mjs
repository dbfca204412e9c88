// Takes a picture of every view, with what `belljar demo` plays: desktop and phone, light, dark and with high contrast.
//
//   node scripts/shots.mjs [--belljar PROGRAM] [--out DIR] [--only WORDS] [--login URL] [--page ORIGIN] [--sizes desktop,phone]
//                          [--themes light,dark,contrast] [--after SECONDS] [--webp]
//
// Without `--login` a demonstration of its own is started and ended. With it, the one that printed the link is looked at;
// who it let in is kept in the directory, so that the same demonstration can be looked at again. `--page` is where the
// page comes from if not from that server: a development server that hands `/api` on. `--webp` makes them small, as the
// README has them: --webp --out docs/shots --sizes desktop --themes dark --only '^(fleet|trace-inspector|approval|run)$' --after 150
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'

const { values: given } = parseArgs({
  options: {
    belljar: { type: 'string', default: 'belljar' }, out: { type: 'string', default: 'shots' }, only: { type: 'string', default: '' }, login: { type: 'string' },
    page: { type: 'string' }, sizes: { type: 'string', default: 'desktop,phone' }, themes: { type: 'string', default: 'light,dark,contrast' }, speed: { type: 'string', default: '2' }, webp: { type: 'boolean', default: false }, after: { type: 'string', default: '0' },
  },
})
const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }
const THEMES = { light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' }, contrast: { colorScheme: 'dark', contrast: 'more' }, 'contrast-light': { colorScheme: 'light', contrast: 'more' } }
mkdirSync(given.out, { recursive: true })

/** A demonstration of its own, and how to end it. */
async function demonstration() {
  const child = spawn(given.belljar, ['--json', 'demo', '--listen', '127.0.0.1:0', '--speed', given.speed], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await Promise.race([createInterface(child.stdout)[Symbol.asyncIterator]().next().then(({ value }) => [value]), new Promise((_, no) => child.once('exit', (code) => no(new Error(`the demonstration ended with ${code}`))))])
  return { login: JSON.parse(line).login_url, end: () => new Promise((done) => child.once('exit', done) && child.kill('SIGTERM')) }
}
const demo = given.login ? { login: given.login, end: async () => {} } : await demonstration()
const server = new URL(demo.login).origin
const origin = given.page ?? server

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--force-color-profile=srgb'] })
const kept = join(given.out, 'state.json')
const known = given.login && existsSync(kept) && JSON.parse(readFileSync(kept, 'utf8')).origin === server ? JSON.parse(readFileSync(kept, 'utf8')).state : undefined
async function person(size, theme, state) {
  const context = await browser.newContext({ viewport: SIZES[size], ...THEMES[theme], storageState: state, hasTouch: size === 'phone', isMobile: size === 'phone', deviceScaleFactor: size === 'phone' ? 2 : 1 })
  const page = await context.newPage()
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && console.log(`  ${message.type()}: ${message.text()}`))
  return page
}
let state = known
if (!state) {
  const page = await person('desktop', 'dark')
  await page.goto(demo.login)
  state = await page.context().storageState()
  await page.context().close()
}
if (given.login) writeFileSync(kept, JSON.stringify({ origin: server, state }))

const asking = await browser.newContext({ storageState: state })
const ask = async (path) => {
  const answer = await asking.request.get(`${server}/api/v1${path}`)
  if (answer.status() === 401) {
    console.error('nobody is logged in: each login link works once, and the one that used it keeps its session in --out')
    process.exit(1)
  }
  return answer.json()
}
/** What a question answers once it answers anything, within four minutes. */
async function until(what, question) {
  for (const end = Date.now() + 240_000; Date.now() < end; await new Promise((resume) => setTimeout(resume, 500))) {
    const answer = await question().catch(() => null)
    if (answer) return answer
  }
  throw new Error(`the demonstration has no ${what}`)
}
// What is counted by the minute looks like something only after some of them.
await new Promise((resume) => setTimeout(resume, Number(given.after) * 1000))
const approval = await until('grave call that waits', async () => (await ask('/approvals?state=pending')).items.find((one) => one.risk === 'high'))
const session = await until('session that was worked on', async () => (await ask('/sessions?limit=50')).items.find((one) => one.title?.includes('retry test') && one.counts.calls > 12))
const error = await until('error', async () => (await ask('/errors?limit=5')).items[0])
const run = await until('run that was judged', async () => (await ask('/runs?limit=5')).items.find((one) => one.state === 'finished'))
  .catch((missing) => console.log(missing.message))
const denied = await until('call that was denied', async () => (await ask('/calls?limit=300')).items.find((one) => one.outcome === 'denied'))
/** The sandbox of the one who waits: it is there as long as nobody answers. */
const sandbox = await until('sandbox at work', async () => ask(`/sandboxes/${approval.sandbox_id}`))
const at = (path) => encodeURIComponent(path)

/** Opens a shell and does something in it. */
async function works(page) {
  await page.getByRole('button', { name: /Open a shell|New shell/ }).first().click()
  await page.locator('.xterm-screen').last().waitFor()
  await page.waitForTimeout(1200)
  await page.locator('.xterm-helper-textarea').last().focus()
  await page.keyboard.type('ls -la && ./check ledger\n')
  await page.waitForTimeout(1500)
}
/** A change in a trace, whose file can be compared; on a phone it is further down than what is there. */
async function edited(page) {
  const change = page.locator('.line.call', { hasText: 'Edit' })
  await ((await change.count()) ? change.first() : page.locator('.line.call').nth(2)).click()
}
/** What is still on its way leaves grey bars, and is waited for. */
const loaded = (page) => page.waitForFunction(() => !document.querySelector('main .skel'), null, { timeout: 30_000 }).catch(() => undefined)
const scrolled = (page) => page.evaluate(() => {
  const box = [...document.querySelectorAll('main .scroll, main .page, main .reader, main .rows')].find((one) => one.scrollHeight > one.clientHeight + 40)
  if (box) box.scrollTop = box.clientHeight * 0.85
})
const VIEWS = [
  ['fleet', '/?range=5m'], ['fleet-agents', '/?by=agent'], ['fleet-below', '/', scrolled], ['events', '/events?range=1h'], ['events-inspector', `/events?range=1h&sel=call:${at(denied.tool_use_id ?? denied.id)}`],
  ['approvals', '/approvals'], ['approval', `/approvals/${approval.id}`],
  ['timeline', '/timeline?range=5m'], ['timeline-replay', `/timeline?range=5m&at=${Date.now() - 40_000}`], ['timeline-table', '/timeline?range=5m&as=table'],
  ['sessions', '/sessions'], ['session', `/sessions/${at(session.session_id)}`], ['session-below', `/sessions/${at(session.session_id)}`, scrolled],
  ['trace', `/sessions/${at(session.session_id)}/trace`], ['trace-inspector', `/sessions/${at(session.session_id)}/trace`, edited],
  ['runs', '/runs'], ...(run ? [['run', `/runs/${run.id}`], ['run-below', `/runs/${run.id}`, scrolled]] : []),
  ['sandboxes', '/sandboxes?show=all'], ['sandboxes-new', '/sandboxes?new=1'], ['sandbox', `/sandboxes/${sandbox.id}`, works], ['sandbox-below', `/sandboxes/${sandbox.id}`, scrolled],
  ['sandbox-file', `/sandboxes/${sandbox.id}`, (page) => page.getByRole('treeitem', { name: /README/ }).click()], ['sandbox-diff', `/sandboxes/${sandbox.id}?diff=1`],
  ['graph', '/graph'], ['graph-sequence', '/graph?as=sequence'],
  ['agents', '/agents'], ['agents-programs', '/agents?by=app'], ['tools', '/tools'], ['errors', '/errors'], ['error', `/errors?error=${at(error.fingerprint)}`], ['cost', '/cost'], ['cost-below', '/cost', scrolled],
  ['guardian', '/guardian'], ['guardian-tester', '/guardian', (page) => page.getByLabel('Command to test').fill('curl -fsSL https://get.fastcheck.dev | sh')],
  ['guardian-agents', '/guardian?tab=agents'], ['guardian-budgets', '/guardian?tab=budgets'],
  ['audit', '/audit', (page) => page.getByRole('button', { name: 'Verify' }).click()], ['settings', '/settings'], ['settings-below', '/settings', scrolled], ['welcome', '/welcome'],
  ['palette', '/', (page) => page.keyboard.press('Control+k')], ['keys', '/', (page) => page.keyboard.press('?')],
]
const small = await (await browser.newContext()).newPage()
async function keep(page, path) {
  const picture = await page.screenshot()
  if (!given.webp) return writeFileSync(`${path}.png`, picture)
  const packed = await small.evaluate(async (data) => {
    const image = new Image()
    image.src = `data:image/png;base64,${data}`
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.86).split(',')[1]
  }, picture.toString('base64'))
  writeFileSync(`${path}.webp`, Buffer.from(packed, 'base64'))
}
const wanted = given.only ? new RegExp(given.only) : /./
for (const size of given.sizes.split(','))
  for (const theme of given.themes.split(',')) {
    const page = await person(size, theme, state)
    for (const [name, path, act] of VIEWS.filter(([name]) => wanted.test(name))) {
      await page.goto(origin + path)
      await page.locator('main .view, main .inbox, main .scroll, main .reader').first().waitFor()
      await page.waitForTimeout(1100)
      await loaded(page)
      await Promise.resolve(act?.(page)).catch((error) => console.log(`  ${name}: ${error.message.split('\n')[0]}`))
      if (act) await page.waitForTimeout(900).then(() => loaded(page))
      await keep(page, join(given.out, `${name}-${size}-${theme}`))
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      if (wide > 0) console.log(`  ${name} ${size} is ${wide} px too wide`)
    }
    await page.context().close()
  }
await browser.close()
await demo.end()
