import { expect, test, vi } from 'vitest'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { ApiError } from '../api.ts'
import { readExample } from './read-example.ts'

const ongoing = new AbortController().signal

test('An example is read from the file with its name', async () => {
  const call = vi.fn(async () => exampleTrajectory('two-steps'))
  expect(await readExample({ call }, 'two steps', ongoing)).toEqual(exampleTrajectory('two-steps'))
  expect(call).toHaveBeenCalledWith('/examples/two%20steps.json', ongoing)
})

test('The error for an unknown example has its name and the names of the examples', async () => {
  const call = () => Promise.reject(new ApiError(404, 'UNKNOWN', 'the server answered 404'))
  await expect(readExample({ call }, 'nothing', ongoing)).rejects.toMatchObject({
    status: 404,
    message: 'There is no example “nothing”.',
    hint: 'The examples are two-steps, parallel-calls, retokenization-drift, tool-error.',
  })
})

test('Other errors of reading an example remain unchanged', async () => {
  const unreachable = new ApiError(0, 'UNREACHABLE', 'the server does not answer')
  await expect(readExample({ call: () => Promise.reject(unreachable) }, 'nothing', ongoing)).rejects.toBe(unreachable)
})
