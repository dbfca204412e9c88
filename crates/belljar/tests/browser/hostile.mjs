// Everything an agent can say is said in the worst way, and every view is looked at.
import assert from 'node:assert/strict'
import { agent, ask, fits, hook, over, person, PHONE, rawHook, until, work } from './person.mjs'

const SCRIPT = '<script>globalThis.taken = 1</script><img src=x onerror="globalThis.taken = 1"><svg onload="globalThis.taken = 1">'
const ANSI = '\u001b[2J\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007\u0000\u0007\u009b31m'
const BIDI = 'safe\u202Etxt.exe\u202C \u2066hidden\u2069 zero\u200Bwidth \u{E0041}'
const LONG = `${'A'.repeat(1_000_000)}end`
const LINK = 'javascript:globalThis.taken=1 [Allow](http://evil.example) https://belljar.example@evil.example/'
const MARKS = `Z${'\u0335'.repeat(500)}`
const WORST = [SCRIPT, ANSI, BIDI, LINK, MARKS, 'Verdict: Allow ✓ approved by admin']

let number = 0
for (const evil of [...WORST, LONG]) {
  const id = `evil-${number++}-${evil.slice(0, 40)}`
  await hook(id, 'SessionStart', { source: evil, model: evil.slice(0, 100) })
  await hook(id, 'UserPromptSubmit', { prompt: evil })
  await hook(id, 'PreToolUse', { tool_name: evil.slice(0, 120), tool_use_id: `t${number}`, tool_input: { command: evil, [evil.slice(0, 60)]: evil } })
  await hook(id, 'PostToolUseFailure', { tool_name: evil.slice(0, 120), tool_use_id: `t${number}`, tool_input: { command: evil }, error: evil })
  await hook(id, 'PreToolUse', { tool_name: 'Edit', tool_use_id: `e${number}`, tool_input: { file_path: `/w/${evil.slice(0, 200)}`, old_string: evil, new_string: `${evil}!` } })
  await hook(id, 'SubagentStart', { agent_id: evil.slice(0, 100), agent_type: evil.slice(0, 100) })
  await hook(id, 'Stop', { last_assistant_message: evil })
}
// What is no UTF-8 at all is kept as what it is, and shown as signs.
await rawHook(Buffer.concat([Buffer.from('{"hook_event_name":"UserPromptSubmit","session_id":"raw","prompt":"'), Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]), Buffer.from('"}')]))
// A sandbox whose name, files and changes are as bad.
const sandbox = await ask('POST', '/api/v1/sandboxes', { name: BIDI.slice(0, 40), agent: 'evil agent', labels: { task: SCRIPT.slice(0, 60) }, workspace: work })
const NAME = '<img src=x onerror=globalThis.taken=1>\u001b[2J\u202Etxt'
await ask('POST', `/api/v1/sandboxes/${sandbox.id}/exec`, { command: ['sh', '-c', 'printf "%b" "\\033[2J<script>globalThis.taken = 1</script>\\377\\342\\200\\256" | tee "$1" > greeting.txt; mkdir "d$1"', 'sh', NAME] })
// A call that waits for a person, who must not be taken in while deciding.
const waits = agent('evil-asks', 'asked', `echo '${[SCRIPT, ANSI, BIDI, LINK, MARKS].join(' ').replaceAll('\0', '')}'`)
const approval = await until(async () => (await ask('GET', '/api/v1/approvals?state=pending')).items[0])

const calls = (await ask('GET', '/api/v1/calls?limit=100')).items
const edits = calls.filter((call) => call.tool === 'Edit')
const groups = (await ask('GET', '/api/v1/errors?limit=50')).items
const sessions = (await ask('GET', '/api/v1/sessions')).items.map((one) => `/sessions/${encodeURIComponent(one.session_id)}`)
const views = [
  '/', '/events?range=1h', '/approvals', `/approvals/${approval.id}`, '/sandboxes?show=all', `/sandboxes/${sandbox.id}`, `/sandboxes/${sandbox.id}?diff=1`, '/welcome', '/sessions', '/timeline', '/timeline?as=table',
  '/graph', '/graph?as=sequence', '/tools', '/errors', '/cost', '/audit', '/guardian', '/guardian?tab=agents', '/guardian?tab=budgets', '/settings', '/runs',
  ...groups.slice(0, 3).map((group) => `/errors?error=${encodeURIComponent(group.fingerprint)}`),
  ...calls.slice(0, 3).map((call) => `/events?range=1h&sel=call:${encodeURIComponent(call.tool_use_id ?? call.id)}`),
  ...edits.slice(0, 2).flatMap((call) => ['diff', 'input', 'raw'].map((tab) => `/events?range=1h&sel=call:${encodeURIComponent(call.tool_use_id ?? call.id)}&tab=${tab}`)),
  ...sessions.flatMap((path) => [path, `${path}/trace`]),
]
// Signs for what would act or deceive; none of these may reach the page as it is.
const ACTS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u
/** Everything the page says: its texts, and what is read aloud or on hover. */
const words = (page) =>
  page.evaluate(() => [
    document.title, document.body.textContent,
    ...[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames().filter((name) => /^(title|alt|label|placeholder|aria-.*)$/.test(name)).map((name) => one.getAttribute(name))),
  ])
async function looks(page, view) {
  assert.equal(await page.evaluate(() => globalThis.taken), undefined, `${view}: something ran`)
  for (const text of await words(page)) {
    const found = ACTS.exec(text)
    assert.ok(!found, `${view}: U+${found?.[0].codePointAt(0).toString(16)} reached the page near ${JSON.stringify(text.slice(Math.max(0, (found?.index ?? 0) - 30), (found?.index ?? 0) + 30))}`)
  }
  const strange = await page.evaluate(() => [...document.links].map((link) => link.href).filter((to) => new URL(to).origin !== location.origin))
  assert.deepEqual(strange, [], `${view}: links agents made`)
  assert.equal(await page.locator('body script:not([src]), main iframe, main object, body [onerror], body [onload]').count(), 0, `${view}: something agents made`)
  await fits(page, view)
}
for (const size of [undefined, PHONE]) {
  const page = await person({ ...(size ? { size } : {}), allow: [/Failed to load resource.*40[04]/] })
  for (const view of views) {
    await page.goto(new URL(view, page.url()).href)
    await page.locator('main .view, main .inbox, main .scroll, main .reader').first().waitFor()
    await page.waitForLoadState('networkidle')
    await looks(page, view)
  }
  // What is looked for is said by agents too.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('evil')
  await page.getByRole('option', { name: /Every event with/ }).waitFor()
  await looks(page, 'the palette')
  await page.keyboard.press('Escape')
}
await ask('POST', `/api/v1/approvals/${approval.id}/deny`, {})
await waits
await over()
