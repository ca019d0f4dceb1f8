/** The answers that refuse a request, in SGLang's shapes. They are thrown, and converted to a Response in one place. */

type RefusalShape =
  /** For a value out of its range: {"error": {"message"}}. In a stream it is an event instead of a status. */
  | 'value'
  /** For an unknown key or a wrong JSON type: {"error": "…"}. */
  | 'contract'
  /** For a body that is no JSON, or another container: {"object": "error", …}, with the status as its type. */
  | 'body'
  /** For an error of /v1/chat/completions while it is checked or runs: like a body, with type BadRequestError. */
  | 'chat'
  /** For an error of /v1/chat/completions while its messages become a prompt: like a body, with type BadRequest. */
  | 'messages'
  /** For an unknown path or method: {"detail"}. */
  | 'route'

/** Thrown to refuse a request; `shape` selects the form of the answer. */
export class HttpRefusal extends Error {
  override readonly name = 'Refusal'
  readonly shape: RefusalShape
  readonly status: number
  constructor(shape: RefusalShape, message: string, status = 400) {
    super(message)
    this.shape = shape
    this.status = status
  }
}

/** Returns the refusal of a value that is out of its range (400). */
export const badValue = (message: string): HttpRefusal => new HttpRefusal('value', message)

/** Returns the refusal of a request that the server cannot serve now (503) or failed to serve (500). */
export const unavailable = (status: 500 | 503, message: string): HttpRefusal => new HttpRefusal('body', message, status)

/** Returns the refusal of a body in the words of SGLang's validation, but without the value and the source line that SGLang adds. */
export function badBody(type: string, place: readonly (string | number)[], message: string): HttpRefusal {
  const keys = ['body', ...place].map((key) => (typeof key === 'number' ? key : `'${key}'`))
  const location = `(${keys.join(', ')}${place.length === 0 ? ',' : ''})`
  return new HttpRefusal('body', `1 validation error:\n  {'type': '${type}', 'loc': ${location}, 'msg': '${message}'}`)
}

/** Returns the response of a refusal. */
export function refusalResponse({ shape, message, status }: HttpRefusal, headers?: HeadersInit): Response {
  return Response.json(bodyOf(shape, message, status), { status, ...(headers && { headers }) })
}

function bodyOf(shape: RefusalShape, message: string, status: number): object {
  switch (shape) {
    case 'value':
      return { error: { message } }
    case 'contract':
      return { error: message }
    case 'body':
      return errorBody(message, status === 400 ? 'Bad Request' : String(status), status)
    case 'chat':
      return errorBody(message, 'BadRequestError', status)
    case 'messages':
      return errorBody(message, 'BadRequest', status)
    case 'route':
      return { detail: message }
  }
}

const errorBody = (message: string, type: string, status: number): object => ({
  object: 'error',
  message,
  type,
  param: null,
  code: status,
})
