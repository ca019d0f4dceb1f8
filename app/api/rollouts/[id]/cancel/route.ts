import { json, route } from '#lib/server/route.ts'

export const POST = route<{ id: string }>({ changes: 'application/json' }, async ({ params, services }) => {
  await services.runs.cancel(params.id)
  return json({})
})

export {
  methodNotAllowed as GET,
  methodNotAllowed as PUT,
  methodNotAllowed as PATCH,
  methodNotAllowed as DELETE,
} from '#lib/server/method-not-allowed.ts'
