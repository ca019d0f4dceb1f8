import { openApi } from '#lib/server/openapi.ts'
import { json, route } from '#lib/server/route.ts'

export const GET = route({}, ({ services }) => json(openApi(services.version)))
