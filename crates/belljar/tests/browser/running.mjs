// A task is given to several sandboxes: begun by the form, watched, read, compared, and overruled by a person.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessible, ask, fits, over, person, PHONE, until, work } from './person.mjs'

const git = (...words) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: work })
writeFileSync(join(work, 'total.py'), 'def total(values):\n    result = 0\n    for value in values:\n        result = value\n    return result\n')
writeFileSync(join(work, 'test_total.py'), 'import unittest\nfrom total import total\n\n\nclass Totals(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(total([1, 2, 3]), 6)\n')
git('init', '-q')
git('add', '-A')
git('commit', '-qm', 'base')
const before = git('status', '--porcelain').toString()

const page = await person()
await page.goto(new URL('/runs', page.url()).href)
await page.getByText('No run yet').waitFor()
await accessible(page, 'no runs')
await page.getByRole('button', { name: 'New run' }).first().click()
const form = page.getByRole('dialog')
await form.getByLabel('Task', { exact: true }).fill('Make total() add the values up')
await form.getByLabel('Workspace on the server').fill(work)
await form.getByLabel('What attempts run').fill([
  'adder: sed -i "s/result = value/result += value/" total.py',
  'lazy: sed -i "s/result = value/result = value + 0/" total.py',
  'cheat: rm test_total.py',
  `builtin: printf 'def total(values):\\n    return sum(values)\\n' > total.py; sleep 2`,
].join('\n'))
await form.getByLabel('Attempts', { exact: true }).fill('4')
await form.getByLabel('Check that must pass').fill('python3 -m unittest -q')
await accessible(page, 'the form of a run')
await form.getByRole('button', { name: 'Start the run' }).click()

// It is watched while it goes on, and decided without a reload.
await page.waitForURL(/runs\/run_/)
await page.getByRole('status').filter({ hasText: /done|ready|Judging/ }).or(page.getByText('Decided', { exact: true })).filter({ visible: true }).first().waitFor()
await page.getByText('Decided', { exact: true }).filter({ visible: true }).first().waitFor()
const id = new URL(page.url()).pathname.split('/').at(-1)
const run = await until(async () => {
  const now = await ask('GET', `/api/v1/runs/${id}`)
  return now.state === 'finished' && now
})
const winner = run.forks[run.winner_fork].name
assert.ok(['adder', 'builtin'].includes(winner), winner)
await page.getByRole('heading', { name: `Why ${winner} won` }).waitFor()
// The sentence names attempts as everything else on the page does.
const why = run.reason.replace(/\battempt (\d+)\b/gi, (_, number) => run.forks[number].name)
await page.getByText(why).first().waitFor()
// Those that are out say why, and have no score.
await page.getByRole('row', { name: /cheat.*out: test .*removed/ }).waitFor()
await page.getByRole('row', { name: /lazy.*out: the check ended with exit code 1/ }).waitFor()
await page.getByRole('row', { name: new RegExp(`${winner}.*Winner.*${run.winner_score.toFixed(1)}`) }).waitFor()
// What a score is made of adds up to it.
const column = await page.getByRole('row', { name: /^Tests \d/ }).locator('..').locator('td:nth-child(2) .row > .tn').allInnerTexts()
assert.ok(Math.abs(column.reduce((sum, points) => sum + Number(points), 0) - run.winner_score) < 0.5, `${column} is not ${run.winner_score}`)
// The changes beside each other, and from one to the other.
assert.equal(await page.locator('.sides .diff').count(), 2)
await page.getByText('return sum(values)').first().waitFor()
await page.getByRole('button', { name: 'From one to the other' }).click()
await page.locator('.sides').waitFor({ state: 'detached' })
await page.getByText('return sum(values)').first().waitFor()
await accessible(page, 'a run')
await fits(page, 'a run')
const report = await page.request.get(new URL(await page.getByRole('link', { name: 'Report' }).getAttribute('href'), page.url()).href)
assert.match(await report.text(), /adder/)

// A person has the last word, with a reason that says something.
await page.getByRole('button', { name: 'Overrule…' }).click()
const dialog = page.getByRole('dialog')
const other = winner === 'adder' ? 'builtin' : 'adder'
await dialog.getByRole('combobox').selectOption({ label: `${run.forks.find((fork) => fork.name === other).fork}: ${other}` })
await dialog.getByLabel('Why', { exact: true }).fill('nicer')
assert.ok(await dialog.getByRole('button', { name: 'Choose it' }).isDisabled())
await dialog.getByLabel('Why', { exact: true }).fill('it reads better, and nobody pays for the time')
await accessible(page, 'overruling')
await dialog.getByRole('button', { name: 'Choose it' }).click()
await page.getByRole('heading', { name: `Why it was chosen ${other}` }).waitFor()
await page.getByText('it reads better, and nobody pays for the time').first().waitFor()
assert.equal((await ask('GET', `/api/v1/runs/${id}`)).picked.fork, run.forks.find((fork) => fork.name === other).fork)

await page.goto(new URL('/runs', page.url()).href)
await page.getByRole('row', { name: /Make total.*Overruled/ }).waitFor()
await page.keyboard.press('j')
await page.keyboard.press('Enter')
await page.waitForURL(/runs\/run_/)
const phone = await person({ size: PHONE, theme: 'light' })
for (const path of ['/runs', `/runs/${id}`]) {
  await phone.goto(new URL(path, phone.url()).href)
  await phone.getByText('Overruled', { exact: true }).filter({ visible: true }).first().waitFor()
  await accessible(phone, `${path} on a phone`)
  await fits(phone, `${path} on a phone`)
}
assert.equal(git('status', '--porcelain').toString(), before)
await over()
