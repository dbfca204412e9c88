// Makes a sandbox by the form, works in it by terminal and editor, sees what changed, pauses, snapshots, ends it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessible, ask, fits, over, person, PHONE, work } from './person.mjs'

// A question may cross the sandbox's end on its way.
const crossed = /Failed to load resource.*40[49]/
const page = await person({ allow: [crossed] })
await page.goto(new URL('/sandboxes', page.url()).href)
await page.getByRole('button', { name: 'New sandbox' }).first().click()
const form = page.getByRole('dialog')
await form.getByLabel('Name').fill('from-the-page')
await form.getByLabel('Agent').fill('fern')
await form.getByLabel('Workspace on the server').fill(work)
await form.getByLabel('Memory, MB').fill('256')
await accessible(page, 'the form')
await form.getByRole('button', { name: 'Make sandbox' }).click()
await page.getByRole('heading', { name: 'from-the-page' }).first().waitFor()
await page.getByText('Running').first().waitFor()
const id = new URL(page.url()).pathname.split('/').at(-1)
assert.equal((await ask('GET', `/api/v1/sandboxes/${id}`)).limits.memory_bytes, 256 * 1024 * 1024)

// Types in its terminal.
await page.getByRole('button', { name: 'Open a shell' }).click()
const screen = page.locator('.xterm-rows')
await screen.getByText(/[#$] *$/).first().waitFor()
await page.keyboard.type('echo typed-$((6 * 7)); echo made > made.txt\n')
await screen.getByText('typed-42').first().waitFor()

// Edits a file.
await page.getByRole('treeitem', { name: /greeting\.txt/ }).click()
const editor = page.getByRole('textbox', { name: /Text of/ })
await editor.fill('hello from the page\n')
await page.getByRole('button', { name: /^Save/ }).click()
await page.getByText('Saved greeting.txt.').waitFor()
await page.getByRole('button', { name: 'Close', exact: true }).click()

// Sees what changed; on the host nothing did.
await page.getByRole('button', { name: /^Diff/ }).click()
const changes = page.getByRole('dialog')
await changes.getByText('hello from the page').waitFor()
await changes.getByText('made.txt').waitFor()
await accessible(page, 'a diff')
assert.equal(readFileSync(join(work, 'greeting.txt'), 'utf8'), 'hello\n')
await page.keyboard.press('Escape')

await page.getByRole('button', { name: 'Pause' }).click()
await page.getByText('Paused', { exact: true }).first().waitFor()
await page.getByRole('button', { name: 'Resume' }).click()
await page.getByRole('button', { name: 'Pause' }).waitFor()

await page.getByRole('button', { name: 'Snapshot' }).click()
await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('as-it-was')
await page.getByRole('button', { name: 'Take it' }).click()
await page.getByText('as-it-was').first().waitFor()
assert.equal((await ask('GET', '/api/v1/snapshots')).items.length, 1)
await accessible(page, 'a sandbox')

const phone = await person({ size: PHONE, theme: 'light', allow: [crossed] })
await phone.goto(page.url())
await phone.getByRole('heading', { name: 'from-the-page' }).first().waitFor()
await fits(phone, 'a sandbox on a phone')
await accessible(phone, 'a sandbox on a phone')

// The killswitch wants the agent's name.
await page.getByRole('button', { name: 'Kill fern' }).click()
const kill = page.getByRole('dialog').getByRole('button', { name: 'Kill' })
assert.ok(await kill.isDisabled())
await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

await page.getByRole('button', { name: 'Terminate' }).click()
await page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).click()
await page.getByText(/Destroyed|Stopped/).first().waitFor()
await over()
