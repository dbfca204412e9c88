// A person at a browser, and the agents that work meanwhile. Whatever the browser complains about is a failure.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const env = (name) => process.env[name] ?? assert.fail(`${name} is not set`)
const modules = createRequire(join(env('BELLJAR_TEST_BROWSER'), 'x.js'))
const { chromium } = modules('playwright-core')
const axe = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8')

export const login = env('BELLJAR_LOGIN')
export const origin = new URL(login).origin
export const work = env('BELLJAR_WORK')
const key = readFileSync(join(env('BELLJAR_HOME'), 'admin.key'), 'utf8').trim()

export const DESKTOP = { width: 1440, height: 900 }
export const PHONE = { width: 390, height: 844 }

/** Asks the server as a program does. */
export async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(origin + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`)
  return answer.headers.get('content-type')?.includes('json') ? answer.json() : answer.text()
}

/** Tells the server of a hook, as `belljar hook` does. */
export const hook = (session, event, fields = {}) =>
  ask('POST', '/api/v1/hooks/claude-code', {
    version: 1, id: `evt_${randomBytes(16).toString('hex')}`, agent: 'claude-code', event, sent_at: new Date().toISOString(),
    payload: { session_id: session, hook_event_name: event, cwd: '/w', ...fields },
  })

/** How long anything may take on a busy machine. */
const PATIENCE = 60_000

/** What a question answers once it answers anything. */
export async function until(question) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await new Promise((resume) => setTimeout(resume, 50))) {
    const answer = await question()
    if (answer) return answer
  }
  assert.fail(`nothing came of ${question}`)
}

// Whoever still waits when a script is over, or has failed, is not left behind to hold what the script printed to.
const children = new Set()
const started = (child) => children.add(child) && child
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')))

/** An agent that is about to run a command and waits for what its hook says. */
export function agent(session, call, command) {
  const child = started(spawn(env('BELLJAR'), ['hook', '--agent', 'claude-code', '--wait', '600'], { env: { ...process.env, CLAUDE_CODE_SESSION_ATTENDED: '0' }, stdio: ['pipe', 'pipe', 'inherit'] }))
  child.stdin.end(JSON.stringify({ hook_event_name: 'PreToolUse', session_id: session, tool_use_id: call, cwd: '/w', tool_name: 'Bash', tool_input: { command } }))
  let said = ''
  child.stdout.on('data', (piece) => (said += piece))
  return new Promise((resolve) => child.on('close', () => resolve(JSON.parse(said || '{}').hookSpecificOutput ?? {})))
}

/** Runs belljar in the directory of work, for as long as the script lasts, which does not wait for it. */
export const runs = (words) => started(spawn(env('BELLJAR'), words, { cwd: work, stdio: 'ignore' })).unref()

/** A hook that is given bytes, whatever they are. */
export function rawHook(bytes) {
  const child = started(spawn(env('BELLJAR'), ['hook', '--agent', 'claude-code'], { stdio: ['pipe', 'ignore', 'ignore'] }))
  child.stdin.end(bytes)
  return new Promise((resolve) => child.on('close', resolve))
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
const complaints = []
let session

/** A page of a person who is logged in; the link works once, what it gave works again. */
export async function person({ size = DESKTOP, theme = 'dark', zone, allow = [] } = {}) {
  const context = await browser.newContext({ viewport: size, colorScheme: theme, timezoneId: zone, storageState: session, hasTouch: size === PHONE, permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE)
  const note = (words) => allow.some((known) => known.test(words)) || complaints.push(words)
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && note(`console: ${message.text()} ${message.location().url}`))
  page.on('pageerror', (error) => note(`page: ${error.stack}`))
  page.on('dialog', async (dialog) => {
    if (!allow.some((known) => known.test(dialog.message()))) note(`dialog: ${dialog.message()}`)
    await dialog.accept()
  })
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`)))
  await page.goto(session ? origin : login)
  session ??= await context.storageState()
  return page
}

/** Fails on anything serious axe-core finds. */
export async function accessible(page, where) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }))
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  assert.deepEqual(grave.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join(' | ')}`), [], where)
}

/** What a page asked for at first has come; one that asks again and again is never idle on a machine that is busy. */
export const settled = (page) => page.waitForLoadState('networkidle', { timeout: 10_000 }).catch(() => undefined)

/** Nothing is wider than the window. */
export const fits = async (page, where) => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${where} is wider than the window`)

export async function over() {
  await browser.close()
  assert.deepEqual(complaints, [])
  console.log('the script is over')
}
process.on('unhandledRejection', async (error) => {
  console.error(error, complaints)
  process.exit(1)
})
