/** Requests to the server, typed by its own OpenAPI document; what goes wrong comes as a `Problem` with a stable code. */
import { ref } from 'vue'
import type { components, paths } from './schema'

export type Schemas = components['schemas']

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type Having<M extends Method> = { [P in keyof paths]: paths[P][M] extends { responses: unknown } ? P : never }[keyof paths]
type Operation<P extends keyof paths, M extends Method> = paths[P][M]
type Json<T> = T extends { content: { 'application/json': infer B } } ? B : undefined
type Answer<O> = O extends { responses: infer R } ? Json<R[Extract<200 | 201 | 202, keyof R>]> : never
type Body<O> = O extends { requestBody?: infer B } ? (NonNullable<B> extends { content: { 'application/json': infer J } } ? J : never) : never
type Query<O> = O extends { parameters: { query?: infer Q } } ? Q : never
type Names<O> = O extends { parameters: { path: infer N } } ? N : never

export interface Asked<O> {
  path?: Names<O>
  query?: Query<O>
  body?: Body<O>
  /** The same key is carried out once, however often it is sent. */
  once?: string
  signal?: AbortSignal
}

/** What the server says when it does not do what was asked. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly hint: string | null = null,
  ) {
    super(detail)
    this.name = 'Problem'
  }

  /** Nobody answered at all. */
  static unreachable(): Problem {
    return new Problem(0, 'UNREACHABLE', 'the server does not answer')
  }

  static of(error: unknown): Problem {
    if (error instanceof Problem) return error
    return new Problem(0, 'UNEXPECTED', error instanceof Error ? error.message : String(error))
  }
}

/** Whether this browser is logged in, as far as the last answers say. */
export const loggedOut = ref(false)

/** A path with its names filled in and its parameters behind it; `{path}` may have slashes. */
export function url(template: string, names: object = {}, query: object = {}): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String((names as Record<string, unknown>)[name] ?? '')
    return name === 'path' ? value.replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
  })
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return search ? `${path}?${search}` : path
}

/** Sends a request and hands back the response if it is a good one. */
export async function send(to: string, init: RequestInit = {}): Promise<Response> {
  let response: Response
  try {
    response = await fetch(to, { credentials: 'same-origin', ...init })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw Problem.unreachable()
  }
  loggedOut.value = response.status === 401 || (loggedOut.value && !response.ok)
  if (response.ok) return response
  const told = (await response.json().catch(() => null)) as Partial<Schemas['Problem']> | null
  throw new Problem(response.status, told?.code ?? `HTTP_${response.status}`, told?.detail ?? response.statusText, told?.hint ?? null)
}

async function ask<P extends keyof paths, M extends Method>(method: M, path: P, asked: Asked<Operation<P, M>>): Promise<Answer<Operation<P, M>>> {
  const headers: Record<string, string> = {}
  if (asked.body !== undefined) headers['Content-Type'] = 'application/json'
  if (asked.once) headers['Idempotency-Key'] = asked.once
  const response = await send(url(path as string, asked.path as object, asked.query as object), {
    method: method.toUpperCase(),
    headers,
    body: asked.body === undefined ? null : JSON.stringify(asked.body),
    signal: asked.signal ?? null,
  })
  const isJson = response.headers.get('content-type')?.includes('json')
  return (isJson ? await response.json() : undefined) as Answer<Operation<P, M>>
}

export const api = {
  get: <P extends Having<'get'>>(path: P, asked: Asked<Operation<P, 'get'>> = {}) => ask('get', path, asked),
  post: <P extends Having<'post'>>(path: P, asked: Asked<Operation<P, 'post'>> = {}) => ask('post', path, asked),
  put: <P extends Having<'put'>>(path: P, asked: Asked<Operation<P, 'put'>> = {}) => ask('put', path, asked),
  patch: <P extends Having<'patch'>>(path: P, asked: Asked<Operation<P, 'patch'>> = {}) => ask('patch', path, asked),
  delete: <P extends Having<'delete'>>(path: P, asked: Asked<Operation<P, 'delete'>> = {}) => ask('delete', path, asked),
}
