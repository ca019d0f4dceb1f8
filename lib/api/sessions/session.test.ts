import { expect, test } from 'vitest'
import { createSessionSchema } from './session.ts'

test('A session may have an id of letters, digits, _, . and -', () => {
  for (const id of ['a', 'ses_7f3a19', 'run-1.2', 'x'.repeat(100)])
    expect(createSessionSchema.parse({ session_id: id })).toEqual({ session_id: id })
})

test.each([
  ['auto', 'another name than auto'],
  ['..', 'a name that has not only dots'],
  ['a/b', '1 to 100 letters, digits, _, . and -'],
  ['', '1 to 100 letters, digits, _, . and -'],
  ['x'.repeat(101), '1 to 100 letters, digits, _, . and -'],
])('A session cannot have the id %j, because its address would be another one', (id, message) => {
  const { error } = createSessionSchema.safeParse({ session_id: id })
  expect(error?.issues.map((issue) => issue.message)).toContain(message)
})
