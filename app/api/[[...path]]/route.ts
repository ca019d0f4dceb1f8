import { answerRequest } from '#lib/server/routes/routes.ts'

export const dynamic = 'force-dynamic'

// Next answers HEAD by GET, and OPTIONS with the methods below.
export const GET = answerRequest
export const POST = answerRequest
export const PUT = answerRequest
export const PATCH = answerRequest
export const DELETE = answerRequest
