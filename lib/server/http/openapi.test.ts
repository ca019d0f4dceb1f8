import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openApi, operations } from './openapi.ts'

const files = globSync('app/api/**/route.ts').filter((file) => !file.includes('[...'))
/** `METHOD /path` of every route under app/api, catch-alls aside. */
const routes = files
  .flatMap((file) => {
    const path = `/${file
      .replaceAll('\\', '/')
      .replace(/^app\//, '')
      .replace(/\/route\.ts$/, '')}`.replace(/\[(\w+)\]/g, '{$1}')
    return Array.from(
      readFileSync(file, 'utf8').matchAll(/^ {2}(GET|POST|PUT|PATCH|DELETE): route\b/gm),
      ([, method]) => `${method} ${path}`,
    )
  })
  .sort()

test.each(files)('%s answers every method, if only to say that it has it not', (file) => {
  expect(readFileSync(file, 'utf8')).toMatch(/^export const \{ GET, POST, PUT, PATCH, DELETE \} = methods\(\{$/m)
})

test('every route is described, and nothing else', () => {
  expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(routes)
  expect(routes.length).toBeGreaterThan(12)
})

test('the description is one that tools can read', () => {
  const text = JSON.stringify(openApi('1.2.3'))
  const document = JSON.parse(text)
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' }, security: [{ launchToken: [] }] })
  const ids = Object.values(document.paths as Record<string, Record<string, { operationId: string }>>).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toContain('postRollouts')
  expect(
    document.paths['/api/rollouts'].post.requestBody.content['application/json'].schema.properties.sampling.properties,
  ).toHaveProperty('temperature')
  expect(document.paths['/api/health'].get.security).toEqual([])
})

test.each(['/api/rollouts/{id}/cancel', '/api/groups/{id}/cancel'])(
  '%s is described without a body, and still wants the header of changes',
  (path) => {
    const folder = path.replaceAll(/\{(\w+)\}/g, '[$1]')
    expect(readFileSync(`app${folder}/route.ts`, 'utf8')).toContain("changes: 'without body'")
    const { post } = JSON.parse(JSON.stringify(openApi('1.2.3'))).paths[path]
    expect(post).not.toHaveProperty('requestBody')
    expect(post.parameters).toContainEqual({
      name: 'X-Rollscope',
      in: 'header',
      required: true,
      schema: { const: '1' },
    })
  },
)
