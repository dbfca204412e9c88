// Measures the page in a real browser: first load, first paint, frames while 5,000 events come in each second, memory.
//
//   node scripts/measure.mjs LOGIN_URL ADMIN_KEY_FILE [SECONDS] [EVENTS_PER_SECOND]
//
// The server is one of its own on this machine, in a fresh home. Frames are counted by requestAnimationFrame in a window
// of 1440 by 900; what is slower than 25 ms missed a frame of a 60 Hz screen. Memory is the heap after a collection.
import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const [login, keyFile, seconds = '20', perSecond = '5000'] = process.argv.slice(2)
const origin = new URL(login).origin
const key = readFileSync(keyFile, 'utf8').trim()
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

const TOOLS = ['Bash', 'Read', 'Edit', 'Grep', 'WebFetch', 'Write']
let number = 0
/** A call that begins or ends, of one of forty sessions. */
function event() {
  const call = number >> 1
  const tool = TOOLS[call % TOOLS.length]
  const kind = number++ & 1 ? 'tool.finished' : 'tool.requested'
  return {
    kind, session_id: `measured-${call % 40}`, agent_name: 'claude-code', tool, target: `cargo test -p part-${call} -- --nocapture`,
    ...(kind === 'tool.finished' ? { status: 'success', duration_ms: call % 900 } : {}),
    payload: { tool_use_id: `m${process.pid}-${call}`, tool_input: { command: `cargo test -p part-${call}` } },
  }
}
const tell = (count) => fetch(`${origin}/api/v1/events/ingest`, { method: 'POST', headers, body: JSON.stringify({ events: Array.from({ length: count }, event) }) })

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
let bytes = 0
const protocol = await context.newCDPSession(page)
await protocol.send('Network.enable')
protocol.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
/** Shown, connected and live. */
const ready = () => page.waitForSelector('.live.on')
await page.goto(login)
await ready()
const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
console.log(JSON.stringify({ first_contentful_paint_ms: Math.round(paint), transferred_kb_with_fonts_and_data: Math.round(bytes / 1024) }))
const paints = []
for (let run = 0; run < 5; run++) {
  await page.reload()
  await ready()
  paints.push(Math.round(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)))
}
console.log(JSON.stringify({ first_contentful_paint_again_ms: paints }))

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

for (const view of ['/events', '/']) {
  await page.goto(origin + view)
  await ready()
  console.log(JSON.stringify({ view, quiet: await frames(3), heap_mb: await heap() }))
  const [rate, seen] = await Promise.all([pour(Number(perSecond), Number(seconds)), frames(Number(seconds))])
  const behind = await page.evaluate(() => document.querySelector('.conn')?.textContent)
  console.log(JSON.stringify({ view, events_per_second: Math.round(rate), ...seen, connection: behind, heap_mb: await heap() }))
}
await browser.close()
