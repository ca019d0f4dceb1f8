import { expect, test } from 'vitest'
import { routes } from '../routes/routes.ts'
import { describeApi } from './openapi.ts'

const text = JSON.stringify(describeApi(routes, '1.2.3'))
const document = JSON.parse(text)

test('The OpenAPI document describes each row of the table once', () => {
  const described = Object.entries(document.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
    ([path, methods]) => Object.entries(methods).map(([method, { operationId }]) => ({ method, path, operationId })),
  )
  expect(described.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
    routes.map(({ method, path }) => `${method} ${path}`).sort(),
  )
  expect(described.length).toBeGreaterThan(40)
  expect(new Set(described.map(({ operationId }) => operationId)).size).toBe(described.length)
})

test('The OpenAPI document names the version, the token, and the fields of a rollout’s request', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' }, security: [{ launchToken: [] }] })
  const { operationId, requestBody } = document.paths['/api/rollouts'].post
  expect(operationId).toBe('postRollouts')
  expect(requestBody.content['application/json'].schema.properties.sampling.properties).toHaveProperty('temperature')
  expect(document.paths['/api/health'].get.security).toEqual([])
})

test.each(['/api/rollouts/{id}/cancel', '/api/groups/{id}/cancel'])(
  'The OpenAPI document describes POST %s without a body, and with the header of changes',
  (path) => {
    const { post } = document.paths[path]
    expect(post).not.toHaveProperty('requestBody')
    expect(post.parameters).toContainEqual({
      name: 'X-Rollscope',
      in: 'header',
      required: true,
      schema: { const: '1' },
    })
  },
)
