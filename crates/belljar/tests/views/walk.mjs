// A person walks through the views of what agents did, while the demonstration plays. Whatever the browser complains of fails.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const env = (name) => process.env[name] ?? assert.fail(`${name} is not set`)
const modules = createRequire(join(env('BELLJAR_TEST_BROWSER'), 'x.js'))
const { chromium } = modules('playwright-core')
const axe = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8')
const login = env('BELLJAR_LOGIN')
const origin = new URL(login).origin
const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
const complaints = []
let known
async function person(size, theme) {
  const context = await browser.newContext({ viewport: size, colorScheme: theme, storageState: known, acceptDownloads: true })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(`${page.url()}: ${message.text()}`))
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`)))
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.stack}`))
  await page.goto(known ? origin : login)
  known ??= await context.storageState()
  return page
}
async function accessible(page, where) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }))
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  assert.deepEqual(grave.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join(' | ')}`), [], where)
}

const page = await person(DESKTOP, 'dark')

// Lanes of agents, the helpers of one, and the same as a table.
await page.goto(`${origin}/timeline`)
await page.getByRole('link', { name: /fern/ }).first().waitFor()
await page.getByRole('link', { name: /bracken/ }).first().waitFor()
await page.getByRole('button', { name: 'As a table' }).click()
await page.getByRole('row', { name: /check retry/ }).first().click()
await page.getByRole('complementary', { name: 'Inspector' }).getByText('./check retry').first().waitFor()
await page.getByRole('button', { name: 'As a table' }).click()
await page.getByRole('button', { name: 'Replay', exact: true }).click()
await page.getByText(/Replaying \d\d:\d\d:\d\d/).waitFor()
await page.getByRole('button', { name: 'To now' }).click()

// A session to be read, kept as a file, and its trace.
await page.goto(`${origin}/sessions`)
await page.getByRole('row', { name: /fern/ }).first().click()
await page.getByRole('heading', { name: /The retry test fails for some seeds/ }).first().waitFor()
await page.getByText('caps_at_max_delay ... FAILED').first().waitFor()
const [kept] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as Markdown' }).click()])
const text = readFileSync(await kept.path(), 'utf8')
assert.match(text, /^# The retry test/)
assert.match(text, /`Bash` \.\/check retry \(failure\)/)
await page.getByRole('link', { name: 'Trace', exact: true }).click()
await page.getByRole('row', { name: /bracken/ }).first().waitFor()
await page.getByRole('row', { name: /check retry.*failed/ }).first().click()
await page.getByRole('tab', { name: 'Output' }).click()

// Who works for whom.
await page.goto(`${origin}/graph`)
await page.getByRole('button', { name: /bracken/ }).waitFor()

// A command is judged and not run; the rule that says so is shown.
await page.goto(`${origin}/guardian`)
await page.getByRole('button', { name: 'On the host' }).click()
await page.getByLabel('Command to test').fill('rm -rf ~')
await page.getByRole('heading', { name: /^Denied: / }).waitFor()
await page.getByRole('status').getByRole('button', { name: 'delete-everything' }).click()
await page.getByRole('region', { name: 'Rule delete-everything' }).waitFor()

await page.goto(`${origin}/tools`)
await page.getByRole('row', { name: /Bash/ }).first().waitFor()
await page.goto(`${origin}/cost`)
await page.getByRole('row', { name: /fern/ }).first().waitFor()
await page.goto(`${origin}/settings`)
await page.getByText('belljar hooks install --agent claude-code').first().waitFor()

// What a person does, at a desk in the dark and on a phone by day.
for (const [size, theme] of [[DESKTOP, 'dark'], [PHONE, 'light']]) {
  const page = await person(size, theme)
  const where = `${size.width} ${theme}`
  // Words that are looked for find agents, sessions and errors.
  await page.getByRole('button', { name: 'Search or jump to' }).click()
  await page.getByRole('combobox').fill('fern')
  await page.getByRole('option', { name: /fern.*The retry test fails/ }).first().waitFor()
  await page.getByRole('combobox').fill('gitignore')
  await page.getByRole('option', { name: /gitignore/ }).first().waitFor()
  await page.keyboard.press('Escape')

  // Errors are resolved with a reason, and opened again: one that does not come back by itself while it is looked at.
  await page.goto(`${origin}/errors`)
  const failure = `the ${size === PHONE ? 'lamp' : 'bell'} is out of reach`
  const told = await page.evaluate((error) => fetch('/api/v1/events/ingest', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ kind: 'tool.failed', status: 'failure', session_id: 'told', tool: 'Reach', error, payload: { tool_use_id: error } }) }).then((answer) => answer.status), failure)
  assert.equal(told, 201)
  const kind = page.getByRole('button', { name: new RegExp(failure) })
  await kind.click()
  await page.getByRole('heading', { name: failure }).waitFor()
  await page.getByRole('button', { name: 'Resolve', exact: true }).click()
  const why = page.getByRole('dialog').getByLabel('Why', { exact: true })
  await why.fill(`looked at, ${where}`)
  await page.getByRole('dialog').getByRole('button', { name: 'Resolve', exact: true }).click()
  await page.getByText('Resolved. It opens again by itself').waitFor()
  await page.getByRole('button', { name: 'Resolved', exact: true }).click()
  await kind.click()
  await page.getByText(`looked at, ${where}`).first().waitFor()
  await page.getByRole('button', { name: 'Open again', exact: true }).click()
  await why.fill('not yet')
  await page.getByRole('dialog').getByRole('button', { name: 'Open again', exact: true }).click()
  await kind.waitFor({ state: 'detached' })

  // The record is verified, filtered, opened where there is no call, and kept as a file.
  await page.goto(`${origin}/audit`)
  await page.getByRole('button', { name: 'Verify', exact: true }).click()
  await page.getByText('Intact.').first().waitFor()
  await page.getByRole('row', { name: /sandbox|sbx_|belljar/ }).first().click()
  await page.getByRole('complementary', { name: 'Inspector' }).getByText(/Raw|Summary/).first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Denied', exact: true }).click()
  await page.getByRole('row', { name: /rm -rf data build/ }).first().waitFor()
  const [csv] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV', exact: true }).click()])
  assert.match(readFileSync(await csv.path(), 'utf8'), /^timestamp,agent,operation,target,decision,reason,audit_id\n.*rm -rf data build/s)
  await page.context().close()
}
// A call that waits is allowed on the page, by a press that is held, and the agent goes on.
{
  const phone = await person(PHONE, 'light')
  await phone.goto(`${origin}/approvals`)
  await phone.locator('.it', { hasText: 'git push --force origin main' }).first().click()
  await phone.getByRole('heading', { name: /sorrel wants to run a command/ }).waitFor()
  await phone.getByText('What it changed so far').waitFor()
  await phone.getByText('CHANGELOG.md').first().waitFor()
  await accessible(phone, 'an approval of the demonstration')
  const hold = phone.getByRole('button', { name: /Hold to allow once/ })
  await hold.hover()
  await phone.mouse.down()
  await phone.getByText(/Allowed once\./).first().waitFor()
  await phone.mouse.up()
  await phone.goto(`${origin}/approvals?list=answered`)
  await phone.locator('.it', { hasText: 'git push --force origin main' }).first().click()
  await phone.getByText('Delivered to the agent', { exact: true }).waitFor()
  await phone.goto(`${origin}/sessions`)
  await phone.getByRole('row', { name: /sorrel/ }).last().click()
  await phone.getByText('That is what could be done for the release').first().waitFor()
  await phone.context().close()
}

// Every view, in both themes and on a phone: nothing serious for whoever cannot see it, nothing wider than the screen.
const session = new URL((await (async () => { await page.goto(`${origin}/sessions`); await page.getByRole('row', { name: /fern/ }).first().click(); await page.waitForURL(/sessions\/./); return page.url() })())).pathname
for (const [size, theme] of [[DESKTOP, 'dark'], [DESKTOP, 'light'], [PHONE, 'dark'], [PHONE, 'light']]) {
  const other = await person(size, theme)
  for (const path of ['/timeline', session, `${session}/trace`, '/graph', '/graph?as=sequence', '/tools', '/errors', '/cost', '/sessions', '/audit', '/guardian', '/guardian?tab=agents', '/guardian?tab=budgets', '/settings']) {
    await other.goto(origin + path)
    await other.locator('main .view, main .inbox, main .scroll, main .reader').first().waitFor()
    await other.waitForFunction(() => !document.querySelector('.skels'))
    await accessible(other, `${path} ${size.width} ${theme}`)
    const wide = await other.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(wide <= 0, `${path} is ${wide} pixels wider than ${size.width}`)
  }
  await other.context().close()
}
await browser.close()
assert.deepEqual(complaints, [])
console.log('the script is over')
