/** One row of the table of routes: the input of a call, its answers, and the function that answers. */
import type * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import type { Services } from '../services.ts'
import { readJsonBody, readLargeJson, readRunJson } from './body.ts'

/** Methods that a row can have. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** A row as the router and the OpenAPI description read it. */
export interface Endpoint {
  readonly method: (typeof METHODS)[number]
  /** Path with parameters as `{name}`. A last segment `{path*}` is one or more segments. */
  readonly path: string
  readonly summary: string
  readonly query?: Readonly<Record<string, string>>
  /** Format of the body of a call that changes or computes something. Omitted if the call only reads. */
  readonly body?: Body<unknown>
  readonly answers: Answers
  /**
   * Who may call; default `token`. A `client` is a program whose only settings are an address and an API key: it sends the launch token as
   * its key, and no header X-Rollscope.
   */
  readonly access?: 'origin' | 'token' | 'client'
  /**
   * True if the handler itself changes the store, so that it waits while another program has locked the database. Other requests are
   * answered meanwhile. Default: true for PATCH, PUT and DELETE.
   */
  readonly writes?: true
  /** Returns a value that fits the first of `answers`, or a complete response. */
  handle(call: Call<string, unknown>): unknown
}

/** Answers by status. A value that a handler returns is sent with the first status. */
type Answers = Readonly<Record<number, AnswerDescription>>

/** The meaning of one status. */
export interface AnswerDescription {
  readonly description: string
  /** Schema of the JSON answer. Without this and `lines`, the answer has no body. */
  readonly schema?: z.core.$ZodType
  /** Schema of each line of an application/x-ndjson answer. */
  readonly lines?: z.core.$ZodType
}

/** Format of a request's body, and the function that reads it. */
export interface Body<T> {
  /** Undefined if no body is needed; a body is then left unread. */
  readonly type: 'application/json' | 'application/octet-stream' | undefined
  /** True if the call may have no body; one that is sent must have the type. */
  readonly isOptional?: true
  readonly schema?: z.core.$ZodType
  readonly description?: string
  /** Throws HttpProblem. */
  read(request: Request): T | Promise<T>
}

/** Returns the format of a JSON body of at most a megabyte. */
export const jsonBody = <T>(schema: z.core.$ZodType<T>): Body<T> => ({
  type: 'application/json',
  schema,
  read: (request) => readJsonBody(request, schema),
})

/** Returns the format of a JSON body that may contain the ids or the messages of a trajectory. */
export const largeJsonBody = <T>(schema: z.core.$ZodType<T>): Body<T> => ({
  type: 'application/json',
  schema,
  read: (request) => readLargeJson(request, schema),
})

/** Returns the format of a JSON body for a run, which may contain images. */
export const runJsonBody = <T>(schema: z.core.$ZodType<T>): Body<T> => ({
  type: 'application/json',
  schema,
  read: (request) => readRunJson(request, schema),
})

/** Format of a body that is left unread: none, or JSON. */
export const EMPTY_BODY: Body<undefined> = { type: 'application/json', isOptional: true, read: () => undefined }

/** Format of a change that needs only the header X-Rollscope. */
export const NO_BODY: Body<undefined> = { type: undefined, read: () => undefined }

/** Returns the format of a file, which the handler reads from the request as it arrives. */
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
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
}

type PathParams<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? { readonly [K in Name]: string } & PathParams<Rest>
    : unknown

type AnswerValue<A extends Answers> = {
  [Status in keyof A]: A[Status] extends { readonly schema: infer Schema extends z.core.$ZodType }
    ? Plain<z.output<Schema>>
    : undefined
}[keyof A]

interface TypedEndpoint<Path extends string, T, A extends Answers> extends Omit<Endpoint, 'handle'> {
  readonly path: Path
  readonly body?: Body<T>
  readonly answers: A
  handle(call: Call<Path, T>): AnswerValue<A> | Response | Promise<AnswerValue<A> | Response>
}

/** Returns the row after a type check: the parameters follow from the path, the body and the answers from their schemas. */
export const endpoint = <const Path extends string, A extends Answers, T = undefined>(
  row: TypedEndpoint<Path, T, A>,
): Endpoint => row as Endpoint
