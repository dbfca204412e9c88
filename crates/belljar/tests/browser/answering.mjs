// Calls wait for a person; the person answers on the page; the agents hear it.
import assert from 'node:assert/strict'
import { accessible, agent, ask, hook, over, person, PHONE } from './person.mjs'

await hook('asking-1', 'UserPromptSubmit', { prompt: 'Make a file' })
const page = await person()

// From the fleet, where it is harmless.
const first = agent('asking-1', 'c1', 'echo one > made.txt')
const card = page.locator('.ncard', { hasText: 'echo one > made.txt' })
await card.getByText('Medium', { exact: true }).waitFor()
await page.getByRole('link', { name: '1 needs you' }).waitFor()
await accessible(page, 'a fleet that needs you')
await card.getByRole('button', { name: 'Allow once' }).click()
assert.equal((await first).permissionDecision, 'allow')
await page.getByText(/Allowed once\./).first().waitFor()
await card.waitFor({ state: 'detached' })

// From the inbox, by key, with a reason.
const second = agent('asking-1', 'c2', 'echo two > made.txt')
await page.goto(new URL('/approvals', page.url()).href)
await page.getByRole('heading', { name: /wants to run a command/ }).waitFor()
await page.getByText('Somebody must know what is made.').first().waitFor()
await accessible(page, 'an approval')
await page.getByRole('button', { name: 'Deny with a reason…' }).click()
await page.getByRole('textbox', { name: 'Reason' }).fill('not into that file')
await page.getByRole('dialog').getByRole('button', { name: 'Deny', exact: true }).click()
const no = await second
assert.equal(no.permissionDecision, 'deny')
assert.match(no.permissionDecisionReason, /not into that file/)
await page.getByText('Nothing waits').or(page.getByText('Denied by')).first().waitFor()

// Edited, it is judged again and runs as it was edited.
const third = agent('asking-1', 'c3', 'echo three > made.txt')
await page.getByRole('button', { name: /^Edit/ }).waitFor()
await page.getByRole('button', { name: /^Edit/ }).click()
await page.getByRole('textbox', { name: 'The call' }).fill('echo four > made.txt')
await page.getByRole('button', { name: 'Allow as edited' }).click()
const edited = await third
assert.equal(edited.permissionDecision, 'allow')
assert.equal(edited.updatedInput.command, 'echo four > made.txt')

// What is grave takes a held press, also on a phone; a tap is not enough.
const fourth = agent('asking-1', 'c4', 'printf grave')
const phone = await person({ size: PHONE, theme: 'light' })
await phone.goto(page.url().replace(/\/approvals.*/, '/approvals'))
await phone.locator('.it', { hasText: 'printf grave' }).click()
const hold = phone.getByRole('button', { name: /Hold to allow once/ })
await hold.waitFor()
await accessible(phone, 'an approval on a phone')
await hold.click()
await phone.getByRole('timer').first().waitFor()
await hold.hover()
await phone.mouse.down()
const answer = await fourth
await phone.mouse.up()
assert.equal(answer.permissionDecision, 'allow')
await phone.getByText(/Allowed once\./).first().waitFor()

// By keys: from the fleet on the card that has the focus, and never behind a dialog.
const stillWaits = async (command) => (await ask('GET', '/api/v1/approvals?state=pending')).items.some((one) => one.input?.command === command)
const fifth = agent('asking-1', 'c5', 'echo five > made.txt')
await page.goto(new URL('/', page.url()).href)
const five = page.locator('.ncard', { hasText: 'echo five > made.txt' })
await five.waitFor()
await page.waitForTimeout(450)
await page.keyboard.press('a')
await page.keyboard.press('j')
await five.and(page.locator(':focus')).waitFor()
assert.ok(await stillWaits('echo five > made.txt'), 'a key answered what had no focus')
await page.keyboard.press('a')
assert.equal((await fifth).permissionDecision, 'allow')

const sixth = agent('asking-1', 'c6', 'printf six')
await page.locator('.ncard', { hasText: 'printf six' }).waitFor()
await page.keyboard.press('g')
await page.keyboard.press('a')
await page.getByRole('button', { name: /Hold to allow once/ }).waitFor()
await page.waitForTimeout(450)
await page.keyboard.press('?')
await page.getByRole('dialog', { name: 'Keys' }).waitFor()
await page.keyboard.press('d')
await page.keyboard.down('a')
await page.waitForTimeout(1000)
await page.keyboard.up('a')
assert.ok(await stillWaits('printf six'), 'a key answered behind a dialog')
await page.keyboard.press('Escape')
await page.getByRole('dialog').waitFor({ state: 'detached' })
await page.keyboard.press('d')
assert.equal((await sixth).permissionDecision, 'deny')

// Each effect has its own risk and the rule that speaks of it; a rule about the call as a whole stands below them.
const seventh = agent('asking-1', 'c7', 'echo seven && git push --force origin main')
await page.goto(new URL('/approvals', page.url()).href)
const effect = (words) => page.locator('.fx', { hasText: words })
await effect('git push --force').getByText('High', { exact: true }).waitFor()
await effect('git push --force').getByRole('link', { name: 'git-loses' }).waitFor()
const [waits] = (await ask('GET', '/api/v1/approvals?state=pending')).items
assert.equal(waits.rulings.length, waits.effects.length)
assert.ok(waits.rulings.some(({ risk, rule }) => risk === 'high' && rule === 'git-loses'), JSON.stringify(waits.rulings))
await accessible(page, 'an approval with several effects')
await page.waitForTimeout(450)
await page.keyboard.press('d')
assert.equal((await seventh).permissionDecision, 'deny')
const eighth = agent('asking-1', 'c8', 'echo eight > made.txt')
await effect('about the call as a whole').getByText('Medium', { exact: true }).waitFor()
await page.waitForTimeout(450)
await page.keyboard.press('d')
assert.equal((await eighth).permissionDecision, 'deny')

// Whether it reached the agent is said.
await page.goto(new URL('/approvals?list=answered', page.url()).href)
await page.locator('.it', { hasText: 'echo one > made.txt' }).click()
await page.getByText('Delivered to the agent', { exact: true }).waitFor()
await over()
