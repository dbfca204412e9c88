// What an agent says of its calls stands beside what belljar saw of them: one that is true, one that is not, one nobody can check.
import assert from 'node:assert/strict'
import { accessible, ask, hook, over, person, PHONE, runs, settled, until, work } from './person.mjs'

const told = (event, fields) => JSON.stringify({ session_id: 'compared-1', hook_event_name: event, cwd: work, ...fields })
const writing = (id, name) => {
  const call = { tool_name: 'Write', tool_use_id: id, tool_input: { file_path: `${work}/${name}`, content: 'made\n' } }
  return [told('PreToolUse', call), told('PostToolUse', { ...call, tool_response: { type: 'create', filePath: `${work}/${name}` } })]
}
const failing = { tool_name: 'Bash', tool_use_id: 'failing', tool_input: { command: 'false' } }
const [honestBefore, honestAfter] = writing('honest', 'kept.txt')
const [boastBefore, boastAfter] = writing('boast', 'promised.txt')
const says = (words) => `printf '%s' '${words}' | /run/belljar/belljar hook --agent claude-code`
// In its sandbox the agent writes one file it tells of, tells of another it does not write, and stays.
runs(['run', '--observe', '--agent', 'compared', '--', 'sh', '-c', [
  says(told('SessionStart', { source: 'startup' })), says(told('UserPromptSubmit', { prompt: 'Write two files' })),
  says(honestBefore), 'sleep 0.1', 'echo made > kept.txt', says(honestAfter), 'sleep 0.3',
  says(boastBefore), says(boastAfter),
  says(told('PreToolUse', failing)), says(told('PostToolUseFailure', { ...failing, error: 'Exit code 1' })),
  'sleep 600',
].join('\n')])
const call = (id) => until(async () => (await ask('GET', '/api/v1/calls?limit=50')).items.find((one) => one.tool_use_id === id && one.outcome))
const [honest, boast, failed] = [await call('honest'), await call('boast'), await call('failing')]
assert.ok(honest.sandbox_id)
const changes = await ask('GET', `/api/v1/sandboxes/${honest.sandbox_id}/diff`)
const kept = changes.files.find((file) => file.path === 'kept.txt')
assert.ok(Date.parse(kept.changed_at) >= Date.parse(honest.began) - 25 && Date.parse(kept.changed_at) <= Date.parse(honest.ended) + 25, `${kept.changed_at} ${honest.began} ${honest.ended}`)

const page = await person()
const happened = page.getByRole('region', { name: 'What really happened' })
const row = (name) => happened.getByRole('row', { name: new RegExp(`^${name}`) })
const open = async (one) => {
  await page.goto(new URL(`/events?sel=call:${one.id}`, page.url()).href)
  await happened.getByRole('columnheader', { name: 'Kernel saw' }).waitFor()
}

await open(honest)
await happened.getByText('matches', { exact: true }).waitFor()
await row('Files changed 1 1').waitFor()
await happened.getByText('kept.txt').waitFor()
await row('Network').getByText('the sandbox has none').waitFor()
await accessible(page, 'an inspector that compares')

await open(boast)
await happened.getByText('differs', { exact: true }).waitFor()
await row('Files changed 1 none').waitFor()

// What nobody but the agent can know is not agreed with.
await open(failed)
await happened.getByText('nothing to compare', { exact: true }).waitFor()
await row('Exit code 1 unknown').waitFor()

// On the host there is nothing to see.
await hook('compared-2', 'PreToolUse', { tool_name: 'Read', tool_use_id: 'outside', tool_input: { file_path: '/w/there.txt' } })
await hook('compared-2', 'PostToolUse', { tool_name: 'Read', tool_use_id: 'outside', tool_input: { file_path: '/w/there.txt' }, tool_response: { content: 'x' } })
const outside = await call('outside')
await page.goto(new URL(`/events?sel=call:${outside.id}`, page.url()).href)
await happened.getByText('It ran on the host').waitFor()

const phone = await person({ size: PHONE, theme: 'light' })
await phone.goto(new URL(`/events?sel=call:${boast.id}`, page.url()).href)
await phone.getByText('differs', { exact: true }).waitFor()
await settled(phone)
await accessible(phone, 'an inspector that compares, on a phone')
await over()
