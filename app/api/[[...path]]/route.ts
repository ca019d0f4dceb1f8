import { answerRequest } from '#lib/server/routes/routes.ts'

/** Every request is answered when it arrives: Next may not prerender an answer at build time. */
export const dynamic = 'force-dynamic'

/** Next answers HEAD with GET, and OPTIONS with the list of the methods that are exported here. */
export const GET = answerRequest
export const POST = answerRequest
export const PUT = answerRequest
export const PATCH = answerRequest
export const DELETE = answerRequest
