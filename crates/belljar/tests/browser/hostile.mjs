// Everything an agent can say is said in the worst way, and every view is looked at.
import assert from 'node:assert/strict'
import { agent, ask, DESKTOP, fits, hook, over, person, PHONE, rawHook, settled, until, work } from './person.mjs'

const SCRIPT = '<script>globalThis.taken = 1</script><img src=x onerror="globalThis.taken = 1"><svg onload="globalThis.taken = 1">'
const ANSI = '\u001b[2J\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007\u0000\u0007\u009b31m'
const BIDI = 'safe\u202Etxt.exe\u202C \u2066hidden\u2069 zero\u200Bwidth \u{E0041}'
const LONG = `${'A'.repeat(1_000_000)}end`
const LINK = 'javascript:globalThis.taken=1 [Allow](http://evil.example) https://belljar.example@evil.example/'
const MARKS = `Z${'\u0335'.repeat(500)}`
const WORST = [SCRIPT, ANSI, BIDI, LINK, MARKS, 'Verdict: Allow ✓ approved by admin']

/** What may be refused; what is not must be harmless to look at. */
const offered = (...words) => ask(...words).catch((refused) => assert.match(String(refused), /: 4\d\d /))

let number = 0
for (const evil of [...WORST, LONG]) {
  const id = `evil-${number++}-${evil.slice(0, 40)}`
  await hook(id, 'SessionStart', { source: evil, model: evil.slice(0, 100) })
  await hook(id, 'UserPromptSubmit', { prompt: evil })
  await hook(id, 'PreToolUse', { tool_name: evil.slice(0, 120), tool_use_id: `t${number}`, tool_input: { command: evil, [evil.slice(0, 60)]: evil } })
  await hook(id, 'PostToolUseFailure', { tool_name: evil.slice(0, 120), tool_use_id: `t${number}`, tool_input: { command: evil }, error: evil })
  await hook(id, 'PreToolUse', { tool_name: 'Edit', tool_use_id: `e${number}`, tool_input: { file_path: `/w/${evil.slice(0, 200)}`, old_string: evil, new_string: `${evil}!` } })
  await hook(id, 'SubagentStart', { agent_id: evil.slice(0, 100), agent_type: evil.slice(0, 100) })
  await hook(id, 'MessageDisplay', { message_id: `m${number}`, index: 0, final: true, delta: evil })
  await hook(id, 'SubagentStop', { agent_id: evil.slice(0, 100), agent_type: evil.slice(0, 100), last_assistant_message: evil })
  await hook(id, 'Notification', { message: evil })
  await hook(id, 'Stop', { last_assistant_message: evil })
  await hook(id, 'StopFailure', { error: evil })
  await hook(`${id}-elsewhere`, 'UserPromptSubmit', { prompt: 'Work', cwd: `/w/${evil.slice(0, 200)}` })
  await hook(`${id}-elsewhere`, 'PreToolUse', { tool_name: `mcp__${evil.slice(0, 40)}__${evil.slice(0, 40)}`, tool_use_id: `m${number}`, tool_input: { query: evil } })
  // Whoever tells events directly names everything itself.
  const name = evil.slice(0, 60)
  await ask('POST', '/api/v1/events/ingest', { events: [
    { kind: 'tool.requested', session_id: `told-${number}`, agent_id: name, agent_name: name, tool: name, target: evil.slice(0, 4000), reason: evil.slice(0, 1000), decision: 'ask', risk: name, payload: { tool_use_id: `told-${number}`, tool_input: { command: evil.slice(0, 4000) } } },
    { kind: 'model.called', session_id: `told-${number}`, agent_name: name, payload: { model: evil.slice(0, 100), usage: { input: 10, output: 5 } } },
    { kind: 'tool.failed', status: 'failure', session_id: `told-${number}`, agent_name: name, tool: name, error: evil.slice(0, 4000), payload: { tool_use_id: `told-${number}` } },
  ] }).catch((refused) => assert.match(String(refused), /40[02]|422|413/))
  // So does whoever exports telemetry.
  const attributes = [{ key: 'session.id', value: { stringValue: `otel-${number}` } }, { key: 'gen_ai.request.model', value: { stringValue: name } }, { key: name, value: { stringValue: evil.slice(0, 4000) } }]
  const [now, id16] = [`${Date.now()}000000`, String(number).padStart(16, 'a')]
  await offered('POST', '/v1/traces', { resourceSpans: [{ resource: { attributes: [{ key: 'service.name', value: { stringValue: name } }] }, scopeSpans: [{ scope: { name }, spans: [{ traceId: id16 + id16, spanId: id16, name: evil.slice(0, 1000), kind: 1, startTimeUnixNano: now, endTimeUnixNano: now, attributes, status: { code: 2, message: evil.slice(0, 1000) } }] }] }] })
  await offered('POST', '/v1/logs', { resourceLogs: [{ resource: { attributes: [{ key: 'service.name', value: { stringValue: name } }] }, scopeLogs: [{ scope: { name }, logRecords: [{ timeUnixNano: now, body: { stringValue: evil.slice(0, 4000) }, attributes }] }] }] })
  await offered('PUT', `/api/v1/budgets/${encodeURIComponent(name)}`, { cost_usd: 1 })
}
// What is no UTF-8 at all is kept as what it is, and shown as signs.
await rawHook(Buffer.concat([Buffer.from('{"hook_event_name":"UserPromptSubmit","session_id":"raw","prompt":"'), Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]), Buffer.from('"}')]))
// A sandbox whose name, files and changes are as bad.
const sandbox = await ask('POST', '/api/v1/sandboxes', { name: BIDI.slice(0, 40), agent: 'evil agent', labels: { task: SCRIPT.slice(0, 60) }, workspace: work })
await offered('PATCH', `/api/v1/sandboxes/${sandbox.id}`, { labels: { why: WORST.join(' ').slice(0, 200) }, metadata: { why: WORST.join(' ').slice(0, 200) } })
const NAME = '<img src=x onerror=globalThis.taken=1>\u001b[2J\u202Etxt'
await ask('POST', `/api/v1/sandboxes/${sandbox.id}/exec`, { command: ['sh', '-c', 'printf "%b" "\\033[2J<script>globalThis.taken = 1</script>\\377\\342\\200\\256" | tee "$1" > greeting.txt; mkdir "d$1"', 'sh', NAME] })
// A file whose name is no UTF-8, and a command that prints as badly as it is named, for as long as it is looked at.
await ask('POST', `/api/v1/sandboxes/${sandbox.id}/exec`, { command: ['sh', '-c', 'touch "$(printf "bad\\377\\300name")"'] })
const printed = [ANSI, SCRIPT, BIDI, LINK, '\u001b]0;another title\u0007\u001b]52;c;ZXZpbA==\u0007'].join(' ').replaceAll('\0', '')
await ask('POST', `/api/v1/sandboxes/${sandbox.id}/exec`, { command: ['sh', '-c', 'while :; do printf "%s \\377\\nprinted\\n" "$1"; sleep 1; done', printed, printed], background: true })
await ask('POST', `/api/v1/sandboxes/${sandbox.id}/snapshots`, { name: BIDI.slice(0, 30) }).catch((refused) => assert.match(String(refused), /40[02]|422/))
// An agent of the registry, and what somebody wrote about it.
await ask('PUT', '/api/v1/agents/evil', { role: 'developer', description: WORST.join(' ').slice(0, 1000) }).catch((refused) => assert.match(String(refused), /40[02]|422/))
// A run whose task, attempts and changes are as bad.
const run = await ask('POST', '/api/v1/runs', {
  prompt: WORST.join(' ').replaceAll('\0', ''), attempts: 2, check: 'true', sandbox: { workspace: work, metadata: {} },
  agents: [{ name: 'first', command: `printf '%b' "\\033[2J<script>globalThis.taken = 1</script>\\342\\200\\256" > greeting.txt` }, { name: 'second', command: `echo '${SCRIPT}' > '${NAME.replaceAll('\u001b', '')}'` }],
})
await until(async () => (await ask('GET', `/api/v1/runs/${run.id}`)).ended_at)
await offered('POST', `/api/v1/runs/${run.id}/select`, { fork: 1, reason: WORST.join(' ').replaceAll('\0', '') })
// A call that was answered, with a reason as bad.
const answered = agent('evil-asks', 'answered', `echo '${BIDI}'`)
const past = await until(async () => (await ask('GET', '/api/v1/approvals?state=pending')).items[0])
await ask('POST', `/api/v1/approvals/${past.id}/deny`, { reason: WORST.join(' ') })
await answered
// A call that waits for a person, who must not be taken in while deciding.
const waits = agent('evil-asks', 'asked', `echo '${[SCRIPT, ANSI, BIDI, LINK, MARKS].join(' ').replaceAll('\0', '')}'`)
const approval = await until(async () => (await ask('GET', '/api/v1/approvals?state=pending')).items[0])

const calls = (await ask('GET', '/api/v1/calls?limit=100')).items
const edits = calls.filter((call) => call.tool === 'Edit')
const groups = (await ask('GET', '/api/v1/errors?limit=50')).items
await offered('POST', `/api/v1/errors/${encodeURIComponent(groups.at(-1).fingerprint)}/resolve`, { reason: WORST.join(' '), by: BIDI })
const { url: link } = await ask('POST', `/api/v1/approvals/${approval.id}/link`)
// Of those that differ in little, one of each sort.
const sessions = (await ask('GET', '/api/v1/sessions?limit=100')).items.filter((one) => !/^told-[2-9]|^evil-[2-9].*-elsewhere$/s.test(one.session_id)).map((one) => `/sessions/${encodeURIComponent(one.session_id)}`)
const typed = encodeURIComponent(`${SCRIPT} ${BIDI}`)
const views = [
  '/', '/?by=agent&as=rows', '/approvals?list=answered', `/approvals/${past.id}`, '/events?range=1h&show=failed', `/events?text=${typed}`, `/sessions?q=${typed}`, `/guardian?try=${typed}`, `/guardian?q=${typed}`, `/audit?agent=${typed}`,
  '/audit?decision=deny', '/cost?by=model', '/cost?by=tool', '/errors?state=all', '/errors?state=resolved', '/sandboxes?new=1', `/runs?new=1&like=${run.id}`, `/runs/${run.id}?as=between`, `/sessions/${typed}`, `/runs/${typed}`, `/sandboxes/${typed}`, `/approvals/${typed}`,
  '/events?range=1h', '/approvals', `/approvals/${approval.id}`, '/sandboxes?show=all', `/sandboxes/${sandbox.id}`, `/sandboxes/${sandbox.id}?diff=1`, '/welcome', '/sessions', '/timeline', `/timeline?range=1h&at=${Date.now() - 500}`, '/timeline?as=table',
  '/graph', '/graph?as=sequence', '/agents', '/agents?by=type', '/tools?step=week', '/errors', '/cost', '/audit', '/guardian', '/guardian?tab=agents', '/guardian?tab=budgets', '/settings', '/runs', `/runs/${run.id}`, `/sandboxes/${sandbox.id}?file=greeting.txt`,
  ...groups.slice(0, 3).map((group) => `/errors?error=${encodeURIComponent(group.fingerprint)}`),
  ...calls.slice(0, 3).map((call) => `/events?range=1h&sel=call:${encodeURIComponent(call.tool_use_id ?? call.id)}`),
  ...edits.slice(0, 2).flatMap((call) => ['diff', 'input', 'raw'].map((tab) => `/events?range=1h&sel=call:${encodeURIComponent(call.tool_use_id ?? call.id)}&tab=${tab}`)),
  ...calls.filter((call) => call.outcome === 'failure').slice(0, 2).map((call) => `/events?range=1h&sel=call:${encodeURIComponent(call.id)}&tab=output`),
  ...(await ask('GET', '/api/v1/events?limit=300')).items.filter((event) => /^(prompt|hook|turn|agent|model)/.test(event.kind)).slice(0, 4).map((event) => `/events?range=1h&sel=event:${event.seq}`),
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
const pages = []
for (const size of [DESKTOP, PHONE]) pages.push(await person({ size, allow: [/Failed to load resource.*4(0[04]|22)/] }))
await Promise.all(pages.map(async (page) => {
  for (const view of views) {
    await page.goto(new URL(view, page.url()).href)
    await page.locator('main .view, main .inbox, main .scroll, main .reader').first().waitFor()
    await settled(page)
    await looks(page, view)
    if (view === `/sandboxes/${sandbox.id}`) {
      await page.locator('.xterm-rows').getByText('printed', { exact: true }).first().waitFor()
      await looks(page, 'what a command prints')
      assert.match(await page.title(), /belljar/)
      assert.notEqual(await page.evaluate(() => navigator.clipboard.readText().catch(() => '')), 'evil')
    }
  }
  // What is looked for is said by agents too.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('evil')
  await page.getByRole('option', { name: /Every event with/ }).waitFor()
  await looks(page, 'the palette')
  await page.keyboard.press('Escape')
  // What the link in a message leads to is a page of its own.
  await page.goto(new URL(new URL(link, page.url()).pathname + new URL(link, page.url()).search, page.url()).href)
  await looks(page, 'an approval by its link')
}))
await ask('POST', `/api/v1/approvals/${approval.id}/deny`, {})
await waits
await over()
