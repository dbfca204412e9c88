// Writes the API's types from openapi.json, which a test of the server keeps true.
import { readFile, writeFile } from 'node:fs/promises'
import openapi, { astToString } from 'openapi-typescript'

const document = new URL('../openapi.json', import.meta.url)
const types = await openapi(JSON.parse(await readFile(document, 'utf8')))
await writeFile(new URL('../src/api/schema.d.ts', import.meta.url), astToString(types))
