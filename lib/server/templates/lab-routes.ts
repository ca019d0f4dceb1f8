/** Reads requests to the template lab, whose texts are exact to the last digit, and passes them to its threads. */
import type * as z from 'zod'
import { readJson as readExact, writeJson } from '#lib/templates/jinja/python/json.ts'
import type { PyDict } from '#lib/templates/jinja/python/values.ts'
import { checkedJson, readText } from '../http/body.ts'
import type { Body } from '../http/endpoint.ts'
import { HttpProblem } from '../http/problem.ts'
import { noTrajectory } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import type { LabWork } from './lab-answers.ts'
import type { LabRequest } from './lab-request.ts'
import { labAnswer } from './lab-thread.ts'
import type { DoctorRequest } from './template-doctor.ts'

/** Limit in bytes: a few conversations at the length of a long context. */
const LARGEST_LAB_BODY = 16 << 20

/** Returns the body format of a request to the lab. */
export const labBody = <T extends LabRequest>(schema: z.core.$ZodType<T>): Body<LabWork<T>> => ({
  type: 'application/json',
  schema,
  read: (request) => readLabRequest(request, schema),
})

/** Reads and checks a request's body. Throws HttpProblem. */
export async function readLabRequest<T extends LabRequest>(
  request: Request,
  schema: z.core.$ZodType<T>,
): Promise<LabWork<T>> {
  const text = await readText(request, LARGEST_LAB_BODY)
  const fields = checkedJson(text, schema)
  const body = readExact(text) as PyDict
  const member = (name: string): string => {
    const value = body.get(name)
    return value === undefined || value === null ? '' : typeof value === 'string' ? value : writeJson(value)
  }
  // These fields are in `texts`, so that they are sent to another thread only once.
  const {
    messages: _,
    tools: __,
    options: ___,
    ...parts
  } = fields as T & Record<'messages' | 'tools' | 'options', unknown>
  return {
    parts,
    texts: { messages: member('messages'), tools: member('tools'), options: member('options') },
  }
}

/** Returns the JSON of the doctor's report. Throws HttpProblem. */
export async function answerDoctor(
  work: LabWork<DoctorRequest>,
  { diagnosing, store }: Pick<Services, 'diagnosing' | 'store'>,
  signal: AbortSignal,
): Promise<string> {
  const key = work.parts.trajectory
  if (key !== undefined && store.isDeleted(key)) throw noTrajectory(key, store)
  try {
    return await labAnswer(diagnosing, { kind: 'diagnosis', ...work }, signal)
  } catch (error) {
    const isMissing = error instanceof HttpProblem && error.details.code === 'NO_TRAJECTORY'
    throw isMissing && key !== undefined ? noTrajectory(key, store) : error
  }
}
