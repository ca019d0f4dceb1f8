import { localModelRoute } from '#lib/server/servers/builtin-server-route.ts'

export const dynamic = 'force-dynamic'

export const GET = localModelRoute
export const POST = localModelRoute
export const PUT = localModelRoute
export const PATCH = localModelRoute
export const DELETE = localModelRoute
