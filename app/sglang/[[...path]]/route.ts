import { localModelRoute } from '#lib/server/servers/builtin-server-route.ts'

/** Every request is answered when it arrives: Next may not prerender an answer at build time. */
export const dynamic = 'force-dynamic'

/** Every method is answered by the built-in server, which refuses those that it does not serve. */
export const GET = localModelRoute
export const POST = localModelRoute
export const PUT = localModelRoute
export const PATCH = localModelRoute
export const DELETE = localModelRoute
