/** One row of the table of routes: what a call takes, what it answers, and the function that answers. */
import type * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'
import type { Services } from '../services.ts'
import { readJson, readLargeJson } from './body.ts'

/** Methods that a row can have. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** A row, as the router and the description read it. */
export interface Endpoint {
  readonly method: (typeof METHODS)[number]
  /** Names a parameter as `{name}`. */
  readonly path: string
  readonly summary: string
  readonly query?: Readonly<Record<string, string>>
  /** What the body of a call that changes or computes something must be. Omitted: the call only reads. */
  readonly body?: Body<unknown>
  readonly answers: Answers
  /** Who may call; `token` unless given. */
  readonly access?: 'origin' | 'token'
  /** Returns a value that fits the first of `answers`, or a response of its own. */
  handle(call: Call<string, unknown>): unknown
}

/** By status. The first status is that of a value which a handler returns. */
type Answers = Readonly<Record<number, Answer>>

/** What one status means. */
export interface Answer {
  readonly description: string
  /** The JSON of the answer. Neither this nor `lines`: the answer has no body. */
  readonly schema?: z.ZodType
  /** Each line of an answer as application/x-ndjson. */
  readonly lines?: z.ZodType
}

/** What the body of a request must be, and how it is read. */
export interface Body<T> {
  /** undefined: none is needed, and what is sent is not read. */
  readonly type: 'application/json' | 'application/octet-stream' | undefined
  readonly schema?: z.ZodType
  readonly description?: string
  /** Throws Problem. */
  read(request: Request): T | Promise<T>
}

/** JSON of at most a megabyte. */
export const jsonBody = <T>(schema: z.ZodType<T>): Body<T> => ({
  type: 'application/json',
  schema,
  read: (request) => readJson(request, schema),
})

/** JSON that may hold the ids or the messages of a trajectory. */
export const largeJsonBody = <T>(schema: z.ZodType<T>): Body<T> => ({
  type: 'application/json',
  schema,
  read: (request) => readLargeJson(request, schema),
})

/** The content type is checked, and the body is not read. */
export const EMPTY_BODY: Body<undefined> = { type: 'application/json', read: () => undefined }

/** A change that needs the header X-Rollscope alone. */
export const NO_BODY: Body<undefined> = { type: undefined, read: () => undefined }

/** The handler reads it from the request as it arrives. */
export const fileBody = (description: string): Body<undefined> => ({
  type: 'application/octet-stream',
  description,
  read: () => undefined,
})

interface Call<Path extends string, T> {
  readonly request: Request
  readonly params: PathParams<Path>
  readonly body: T
  readonly services: Services
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
}

type PathParams<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? { readonly [K in Name]: string } & PathParams<Rest>
    : unknown

type AnswerValue<A extends Answers> = {
  [Status in keyof A]: A[Status] extends { readonly schema: infer Schema extends z.ZodType }
    ? Plain<z.output<Schema>>
    : undefined
}[keyof A]

interface TypedEndpoint<Path extends string, T, A extends Answers> extends Omit<Endpoint, 'handle'> {
  readonly path: Path
  readonly body?: Body<T>
  readonly answers: A
  handle(call: Call<Path, T>): AnswerValue<A> | Response | Promise<AnswerValue<A> | Response>
}

/** Checks a row: its parameters by its path, its body and what it answers by their schemas. */
export const endpoint = <const Path extends string, A extends Answers, T = undefined>(
  row: TypedEndpoint<Path, T, A>,
): Endpoint => row as Endpoint
