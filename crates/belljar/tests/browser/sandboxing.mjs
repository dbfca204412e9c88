// Makes a sandbox by the form, works in it by terminal and editor, sees what changed, pauses, snapshots, ends it: at a desk in
// the dark, and on a phone by day.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessible, ask, DESKTOP, fits, over, person, PHONE, work } from './person.mjs'

// A question may cross the sandbox's end on its way.
const crossed = /Failed to load resource.*40[49]/
for (const [size, theme] of [[DESKTOP, 'dark'], [PHONE, 'light']]) {
  const where = `${size.width} ${theme}`
  const name = `made-at-${size.width}`
  const page = await person({ size, theme, allow: [crossed] })
  await page.goto(new URL('/sandboxes', page.url()).href)
  await page.getByRole('button', { name: /^New( sandbox)?$/ }).filter({ visible: true }).first().click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Name').fill(name)
  await form.getByLabel('Agent').fill('fern')
  await form.getByLabel('Workspace on the server').fill(work)
  await form.getByLabel('Memory, MB').fill('256')
  await accessible(page, `the form ${where}`)
  await form.getByRole('button', { name: 'Make sandbox' }).click()
  await page.getByRole('heading', { name }).first().waitFor()
  await page.getByText('Running', { exact: true }).filter({ visible: true }).first().waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)
  assert.equal((await ask('GET', `/api/v1/sandboxes/${id}`)).limits.memory_bytes, 256 * 1024 * 1024)

  // Types in its terminal.
  await page.getByRole('button', { name: 'Open a shell' }).click()
  const screen = page.locator('.xterm-rows')
  await screen.getByText(/[#$] *$/).first().waitFor()
  await page.keyboard.type('echo typed-$((6 * 7)); echo made > made.txt\n')
  await screen.getByText('typed-42').first().waitFor()
  // After a reload the same shell is there, with all it said, and listens.
  await page.reload()
  await screen.getByText('typed-42').first().waitFor()
  await page.locator('.xterm-helper-textarea').focus()
  await page.keyboard.type('echo again-$((5 * 5))\n')
  await screen.getByText('again-25').first().waitFor()

  // Edits a file.
  await page.getByRole('treeitem', { name: /greeting\.txt/ }).click()
  const editor = page.getByRole('textbox', { name: /Text of/ })
  await editor.fill('hello from the page\n')
  await accessible(page, `the editor ${where}`)
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByText('Saved greeting.txt.').waitFor()
  await page.getByRole('button', { name: 'Close', exact: true }).click()

  // Sees what changed; on the host nothing did.
  await page.getByRole('button', { name: /^Diff/ }).click()
  const changes = page.getByRole('dialog')
  await changes.getByText('hello from the page').waitFor()
  await changes.getByText('made.txt').waitFor()
  await accessible(page, `a diff ${where}`)
  assert.equal(readFileSync(join(work, 'greeting.txt'), 'utf8'), 'hello\n')
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.getByText('Paused', { exact: true }).filter({ visible: true }).first().waitFor()
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()

  await page.getByRole('button', { name: 'Snapshot' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill(`${name}-as-it-was`)
  await page.getByRole('button', { name: 'Take it' }).click()
  await page.getByText(`${name}-as-it-was`).first().waitFor()
  assert.ok((await ask('GET', '/api/v1/snapshots')).items.some((one) => one.name === `${name}-as-it-was`))
  await accessible(page, `a sandbox ${where}`)
  await fits(page, `a sandbox ${where}`)

  // The killswitch wants the agent's name.
  await page.getByRole('button', { name: 'Kill fern' }).click()
  const kill = page.getByRole('dialog').getByRole('button', { name: 'Kill', exact: true })
  assert.ok(await kill.isDisabled())
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('button', { name: 'Terminate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Terminate', exact: true }).click()
  await page.getByText(/^(Destroyed|Stopped)$/).filter({ visible: true }).first().waitFor()
  await page.getByText('ended on request').waitFor()
  await accessible(page, `a sandbox that is over ${where}`)
  await page.context().close()
}
await over()
