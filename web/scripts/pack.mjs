// Compresses what was built, once and well, so that the server never has to: a .br and a .gz beside every text.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const out = process.env.BELLJAR_WEB_OUT ?? new URL('../dist', import.meta.url).pathname
const TEXT = /\.(html|js|css|svg|webmanifest|json)$/

const entries = await readdir(out, { recursive: true, withFileTypes: true })
for (const entry of entries.filter((entry) => entry.isFile() && TEXT.test(entry.name))) {
  const path = join(entry.parentPath, entry.name)
  const plain = await readFile(path)
  await writeFile(`${path}.br`, brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } }))
  await writeFile(`${path}.gz`, gzipSync(plain, { level: 9 }))
}
