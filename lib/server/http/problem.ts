/** Errors of the HTTP interface as application/problem+json (RFC 9457). */

import type { JsonObject } from '#lib/json/json-object.ts'

/** The fields of an error response. */
export interface ProblemDetails {
  readonly status: number
  /** Code for programs, in capitals and underscores. */
  readonly code: string
  /** What is wrong, and where. */
  readonly detail: string
  /** What to do. */
  readonly hint?: string | undefined
  /** What a program can do: repeat the request with tokenizer "server". */
  readonly remedy?: 'server-tokenizer' | undefined
  /** Path of the wrong value in the request's body, such as `sampling.top_p`; undefined if the error concerns no single value. */
  readonly field?: string | undefined
}

/** Thrown by handlers; the router answers with its details. */
export class HttpProblem extends Error {
  override readonly name = 'Problem'
  readonly details: ProblemDetails
  constructor(details: ProblemDetails, options?: ErrorOptions) {
    super(details.detail, options)
    this.details = details
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
}

/** Returns the response of an error, which no cache stores. `members` are further members of its body. */
export function problemResponse(
  { status, code, detail, hint, remedy, field }: ProblemDetails,
  members: JsonObject = {},
): Response {
  const body = {
    type: 'about:blank',
    title: TITLES[status] ?? 'Error',
    status,
    detail,
    code,
    ...(hint !== undefined && { hint }),
    ...(remedy !== undefined && { remedy }),
    ...(field !== undefined && { field }),
    ...members,
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  })
}
