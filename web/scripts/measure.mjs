// Measures the page in a real browser: first load, first paint, frames while 5,000 events come in each second, memory.
//
//   node scripts/measure.mjs [--belljar PROGRAM] [--seconds 20] [--rate 5000] [--hour 72000] [--session 100000]
//
// Starts a server of its own in a fresh home and prints a table. Frames are counted by requestAnimationFrame in a window of
// 1440 by 900; what is slower than 25 ms missed a frame of a 60 Hz screen, the page's fault or another program's. How busy the
// page's main thread was is its own time on a processor, so that others do not count. Memory is the heap after a collection.
// An hour is that of a busy fleet, twenty events a second, told in as little time as it takes.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { createRequire } from 'node:module'

const modules = process.env.BELLJAR_TEST_BROWSER
const { chromium } = modules ? createRequire(join(modules, 'x.js'))('playwright-core') : await import('playwright-core')
const { values: given } = parseArgs({
  options: {
    belljar: { type: 'string', default: 'belljar' }, seconds: { type: 'string', default: '20' }, rate: { type: 'string', default: '5000' },
    hour: { type: 'string', default: '72000' }, session: { type: 'string', default: '100000' },
  },
})
const [seconds, perSecond, hour, long] = [given.seconds, given.rate, given.hour, given.session].map(Number)
const home = mkdtempSync(join(tmpdir(), 'belljar-measure-'))
const served = spawn(given.belljar, ['--json', 'serve', '--pool', '0', '--listen', '127.0.0.1:0'], { env: { ...process.env, BELLJAR_HOME: home }, stdio: ['ignore', 'pipe', 'ignore'] })
const { login_url: login } = JSON.parse((await createInterface(served.stdout)[Symbol.asyncIterator]().next()).value)
const origin = new URL(login).origin
const key = readFileSync(join(home, 'admin.key'), 'utf8').trim()
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const table = []
const found = (what, value) => {
  table.push([what, value])
  console.error(`${what}: ${value}`)
}

const TOOLS = ['Bash', 'Read', 'Edit', 'Grep', 'WebFetch', 'Write']
let number = 0
/** A call that begins or ends, of one of forty sessions. */
function event(session) {
  const call = number >> 1
  const tool = TOOLS[call % TOOLS.length]
  const kind = number++ & 1 ? 'tool.finished' : 'tool.requested'
  return {
    kind, session_id: session ?? `measured-${call % 40}`, agent_name: 'claude-code', tool, target: `cargo test -p part-${call} -- --nocapture`,
    ...(kind === 'tool.finished' ? { status: 'success', duration_ms: call % 900 } : {}),
    payload: { tool_use_id: `m${process.pid}-${call}`, tool_input: { command: `cargo test -p part-${call}` } },
  }
}
const tell = (count, session) => fetch(`${origin}/api/v1/events/ingest`, { method: 'POST', headers, body: JSON.stringify({ events: Array.from({ length: count }, () => event(session)) }) })

/** Sends so many a second for so long; the answer is how many it was. */
async function pour(rate, lasting) {
  const began = performance.now()
  let sent = 0
  const flights = new Set()
  while (performance.now() - began < lasting * 1000) {
    const due = ((performance.now() - began) / 1000) * rate
    while (sent < due && flights.size < 16) {
      sent += 250
      const flight = tell(250).catch(() => undefined).finally(() => flights.delete(flight))
      flights.add(flight)
    }
    await new Promise((resume) => setTimeout(resume, 10))
  }
  await Promise.all(flights)
  return sent / ((performance.now() - began) / 1000)
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--js-flags=--expose-gc', '--enable-precise-memory-info'] })
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
const page = await context.newPage()
const loaded = { page: 0, fonts: 0, data: 0 }
const kinds = new Map()
const protocol = await context.newCDPSession(page)
await protocol.send('Network.enable')
protocol.on('Network.responseReceived', ({ requestId, response }) => kinds.set(requestId, response.url.includes('/assets/') || /text\/html/.test(response.mimeType) ? (/font/.test(response.mimeType) ? 'fonts' : 'page') : 'data'))
protocol.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => (loaded[kinds.get(requestId) ?? 'data'] += encodedDataLength))
/** Shown, connected and live. */
const ready = () => page.waitForSelector('.live.on')
const painted = () => page.evaluate(() => Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime))
const kb = (bytes) => `${Math.round(bytes / 1024)} KB`
await page.goto(login)
await ready()
await page.waitForTimeout(500)
found('first load until the fleet is live: page / fonts / data, as transferred', `${kb(loaded.page)} / ${kb(loaded.fonts)} / ${kb(loaded.data)}`)
const first = await painted()
const again = []
for (let run = 0; run < 7; run++) {
  await page.reload()
  await ready()
  again.push(await painted())
}
found('first contentful paint: first visit / again, median of 7', `${first} / ${again.toSorted((a, b) => a - b)[3]} ms`)

const heap = async () => {
  await protocol.send('HeapProfiler.collectGarbage')
  return Math.round((await page.evaluate(() => performance.memory.usedJSHeapSize)) / 1024 / 1024)
}
const frames = (lasting) =>
  page.evaluate(
    (ms) =>
      new Promise((resolve) => {
        const gaps = []
        let last = performance.now()
        const end = last + ms
        const tick = (now) => {
          gaps.push(now - last)
          last = now
          if (now < end) requestAnimationFrame(tick)
          else {
            const sorted = gaps.toSorted((a, b) => a - b)
            resolve({ fps: +((gaps.length / ms) * 1000).toFixed(1), p50_ms: +sorted[sorted.length >> 1].toFixed(1), p99_ms: +sorted[Math.floor(sorted.length * 0.99)].toFixed(1), longest_ms: +sorted.at(-1).toFixed(1), over_25_ms: gaps.filter((gap) => gap > 25).length, frames: gaps.length })
          }
        }
        requestAnimationFrame(tick)
      }),
    lasting * 1000,
  )

await protocol.send('Performance.enable', { timeDomain: 'threadTicks' })
const busy = async () => (await protocol.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value
const NAMES = { '/events': 'event list', '/': 'fleet' }
for (const view of ['/events', '/']) {
  await page.goto(origin + view)
  await ready()
  const quiet = await frames(3)
  found(`frames a second on the ${NAMES[view]}, quiet`, `${quiet.fps}, ${quiet.p99_ms} ms at the 99th percentile`)
  const idle = await busy()
  const [rate, seen] = await Promise.all([pour(perSecond, seconds), frames(seconds)])
  const worked = Math.round(((await busy()) - idle) / seconds * 100)
  await page.waitForTimeout(1000)
  found(`the same while ${Math.round(rate).toLocaleString('en-US')} events a second came in, for ${seconds} s`, `${seen.fps}, ${seen.p50_ms} / ${seen.p99_ms} ms at the median / 99th percentile, ${seen.over_25_ms} of ${seen.frames} missed, main thread busy ${worked} %`)
  found('heap after that', `${await heap()} MB`)
}

/** So many at once, a few requests at a time. */
async function flood(count, session) {
  for (let sent = 0; sent < count; sent += 1000) await Promise.all(Array.from({ length: 4 }, () => tell(250, session)))
}
await page.goto(`${origin}/events`)
await ready()
const before = await heap()
const flooded = performance.now()
await flood(hour)
// All of it has come when nothing comes any more.
await page.waitForFunction(() => document.querySelector('.bar .end')?.textContent.trim() === '0.0/s', null, { timeout: 120_000 })
found(`heap before / after ${hour.toLocaleString('en-US')} events, an hour of a busy fleet, in ${Math.round((performance.now() - flooded) / 1000)} s`, `${before} / ${await heap()} MB`)

await flood(long, 'measured-long')
// What was told is durable at once and read up on soon after; opening is measured once it is.
const knows = async () => (await (await fetch(`${origin}/api/v1/sessions/measured-long`, { headers })).json()).counts?.calls >= long / 2
for (const end = Date.now() + 120_000; !(await knows()) && Date.now() < end; ) await new Promise((resume) => setTimeout(resume, 200))
const opened = performance.now()
await page.goto(`${origin}/sessions/measured-long/trace`)
await page.waitForSelector('.rows .line', { timeout: 120_000 })
const shown = Math.round(performance.now() - opened)
await page.waitForFunction(() => ![...document.querySelectorAll('[role=status]')].some((one) => one.textContent.includes('reading on')), null, { timeout: 240_000 })
found(`a session of ${long.toLocaleString('en-US')} events: shown / read to its end`, `${shown} ms / ${((performance.now() - opened) / 1000).toFixed(1)} s`)
const scrolling = page.evaluate(async (ms) => {
  const list = document.querySelector('.rows')
  for (const end = performance.now() + ms; performance.now() < end; await new Promise(requestAnimationFrame)) list.scrollTop = (list.scrollTop + 900) % (list.scrollHeight - list.clientHeight)
}, 5000)
const [smooth] = await Promise.all([frames(5), scrolling])
found('scrolling through it', `${smooth.fps} frames a second, ${smooth.p99_ms} ms at the 99th percentile`)
found('heap with all of it', `${await heap()} MB`)
await browser.close()
served.kill('SIGTERM')
await new Promise((over) => served.once('exit', over))
rmSync(home, { recursive: true, force: true })
console.log(['| | found |', '|---|---|', ...table.map(([what, value]) => `| ${what} | ${value} |`)].join('\n'))
