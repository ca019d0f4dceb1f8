import { hasToken, originProblem } from '../http/access.ts'
import { services } from '../services.ts'
import { BUILT_IN_PATH } from './own-address.ts'

/** Answers a request to the built-in server from any local client, as SGLang does, but refuses web pages of another origin. */
export async function localModelRoute(request: Request): Promise<Response> {
  const { config, localModel } = services()
  const refused = originProblem(request.headers, config)
  // The error has SGLang's own shape, because its clients read it.
  if (refused) return Response.json({ error: { message: refused.detail } }, { status: refused.status })
  const url = new URL(request.url)
  url.pathname = url.pathname.slice(BUILT_IN_PATH.length) || '/'
  return localModel.handle(new Request(url, request), { hasToken: hasToken(request.headers, config) })
}
