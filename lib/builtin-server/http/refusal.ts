/** The answers that refuse a request, in the shapes that SGLang gives them. Thrown, and turned into a Response once. */

type RefusalShape =
  /** A value out of its range: {"error": {"message"}}. In a stream it is an event, not a status. */
  | 'value'
  /** An unknown key or a wrong JSON type: {"error": "…"}. */
  | 'contract'
  /** No JSON, or another container: {"object": "error", …}, with the status as its type. */
  | 'body'
  /** Of /v1/chat/completions, refused while it is checked or run: as a body, of type BadRequestError. */
  | 'chat'
  /** Of /v1/chat/completions, refused while its messages become a prompt: as a body, of type BadRequest. */
  | 'messages'
  /** No such path or method: {"detail"}. */
  | 'route'

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

export const badValue = (message: string): HttpRefusal => new HttpRefusal('value', message)

/** What the server cannot do now (503) or failed to do (500). */
export const cannot = (status: 500 | 503, message: string): HttpRefusal => new HttpRefusal('body', message, status)

/** In the words of SGLang's validation, without the value found and the line of its own source that it adds. */
export function badBody(type: string, place: readonly (string | number)[], message: string): HttpRefusal {
  const keys = ['body', ...place].map((key) => (typeof key === 'number' ? key : `'${key}'`))
  const location = `(${keys.join(', ')}${place.length === 0 ? ',' : ''})`
  return new HttpRefusal('body', `1 validation error:\n  {'type': '${type}', 'loc': ${location}, 'msg': '${message}'}`)
}

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
