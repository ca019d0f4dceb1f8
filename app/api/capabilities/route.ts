import { capabilities } from '#lib/server/capabilities.ts'
import { json, route } from '#lib/server/route.ts'

export const GET = route({}, () => json(capabilities()))
