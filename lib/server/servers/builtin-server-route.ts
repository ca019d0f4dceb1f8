import { hasToken, originProblem } from '../http/access.ts'
import { services } from '../services.ts'
import { BUILT_IN_PATH } from './servers.ts'

/** The built-in server: open to any local client, as SGLang is, but to no web page of another origin. */
export async function localModelRoute(request: Request): Promise<Response> {
  const { config, localModel } = services()
  const refused = originProblem(request.headers, config)
  // In SGLang's own error shape: its clients read this.
  if (refused) return Response.json({ error: { message: refused.detail } }, { status: refused.status })
  const url = new URL(request.url)
  url.pathname = url.pathname.slice(BUILT_IN_PATH.length) || '/'
  return localModel.handle(new Request(url, request), { hasToken: hasToken(request.headers, config) })
}
