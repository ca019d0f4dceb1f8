/** Returns an answer with a value as JSON. */
export const json = (value: unknown, status = 200): Response => jsonTextResponse(JSON.stringify(value), status)

/** Returns an answer with a text that is JSON already. */
export const jsonTextResponse = (text: string, status = 200): Response =>
  new Response(text, {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
