/** The routes of stored trajectories: the library, labels, import and export. */
import * as z from 'zod'
import { exportPreviewSchema } from '#lib/api/export-preview.ts'
import { importedSchema } from '#lib/api/imported.ts'
import { choicesSchema, neighboursSchema, pageSchema, SORT_COLUMNS, summarySchema } from '#lib/api/library.ts'
import { formats, writableFormats } from '#lib/formats/registry.ts'
import { DEFAULT_PARSER } from '#lib/parsers/registry.ts'
import { trajectorySchema } from '#lib/trajectory/format/trajectory.ts'
import { healthSchema } from '#lib/trajectory/health/health.ts'
import { EMPTY_BODY, endpoint, fileBody, jsonBody } from '../http/endpoint.ts'
import { exportPreview, exportPreviewRequestSchema, exportRequestSchema, exportSeveral } from '../library/export.ts'
import { restoreTexts, storeFile, tokenizerChoiceSchema } from '../library/import.ts'
import {
  labelChangeSchema,
  labelTrajectory,
  listPage,
  removeTrajectory,
  restoreTrajectory,
  trajectoryHealth,
  trajectoryNeighbours,
} from '../library/library.ts'
import { exportTrajectory, trajectoryForViewer } from '../library/trajectories.ts'
import { addPromptLogprobs, promptLogprobsRequestSchema } from '../runs/prompt-logprobs.ts'

/** Query parameters of the list, which select its rows and their order. */
const LIST_QUERY = {
  q: 'Words and "phrases" that must all stand in title, first question (its first 4,000 characters), tags, note, model, outcome or file name, or begin words of what the model wrote; and numbers: reward, tokens, trained, logprob (mean), turns, segments, calls, failed, as in reward>0.5 or tokens:1000-2000.',
  outcome: 'running, ended or failed, or a reason or code such as length.',
  tag: 'A tag that they must have; may be given several times.',
  source: 'rollout, import, fork or recorded; import:{format} for one format of files.',
  health: 'problems (errors or warnings), none, drift, unchecked, or lost (trained tokens, to `cut`).',
  cut: 'The most tokens that a trainer takes of a sample: `cut` of the answer counts what is lost, and rows have it as a finding.',
  overlong:
    'What the trainer does to longer samples: cut (it takes their first tokens), mask or drop. cut unless given.',
  group: 'The id of a group of samples.',
  groups:
    'folded: a group is one row, its first sample in this order; `groups` of the answer tells of all its samples. open, as samples, unless given.',
  sort: `${SORT_COLUMNS.join(', ')}. added unless given.`,
  order: 'asc or desc. desc unless given, but asc for titles. Unknown values come last either way.',
} as const

/** Rows of stored trajectories. */
export const trajectoryRoutes = [
  endpoint({
    method: 'GET',
    path: '/api/trajectories',
    summary: 'Stored trajectories, page by page.',
    query: {
      ...LIST_QUERY,
      limit: 'At most 200; 50 unless given.',
      cursor: '`next` or `previous` of another page with the same sort and order.',
    },
    answers: {
      200: {
        description: 'A page.',
        schema: pageSchema,
      },
    },
    handle: ({ request, services }) => {
      services.health.checkStored()
      return listPage(request, services)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}',
    summary: 'One stored trajectory.',
    answers: { 200: { description: 'The trajectory.', schema: trajectorySchema } },
    handle: ({ params, services }) => trajectoryForViewer(params.key, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}/neighbours',
    summary: 'Where a stored trajectory stands in a list, and the rows beside it.',
    query: LIST_QUERY,
    answers: { 200: { description: 'Its place.', schema: neighboursSchema } },
    handle: ({ request, params, services }) => trajectoryNeighbours(params.key, request, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}/health',
    summary: 'What is wrong with a stored trajectory, and what could not be told. At most 200 places of each finding.',
    answers: { 200: { description: 'Findings and checks.', schema: healthSchema } },
    handle: ({ params, services }) => trajectoryHealth(params.key, services),
  }),
  endpoint({
    method: 'PATCH',
    path: '/api/trajectories/{key}',
    summary: 'Changes title, tags, note or reward, in mid-run too.',
    body: jsonBody(labelChangeSchema),
    answers: { 200: { description: 'Its row in the list.', schema: summarySchema } },
    handle: ({ params, body, services }) => labelTrajectory(params.key, body, services),
  }),
  endpoint({
    method: 'DELETE',
    path: '/api/trajectories/{key}',
    summary: 'Deletes a trajectory that is not running. For a day at least it can be restored.',
    body: EMPTY_BODY,
    answers: { 204: { description: 'Deleted.' } },
    handle({ params, services }) {
      removeTrajectory(params.key, services)
      return undefined
    },
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/restore',
    summary: 'Brings a deleted trajectory back.',
    body: EMPTY_BODY,
    answers: { 200: { description: 'Its row in the list.', schema: summarySchema } },
    handle: ({ params, services }) => restoreTrajectory(params.key, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}/export',
    summary: 'One trajectory as a file.',
    query: { format: `One of ${writableFormats.map(({ name }) => name).join(', ')}; rollscope unless given.` },
    answers: { 200: { description: 'The file.', schema: z.looseObject({}) } },
    handle: ({ request, params, services }) => exportTrajectory(request, params.key, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/tokenizer',
    summary: 'Finds the texts, think blocks and tool calls of a trajectory that was imported as ids.',
    body: jsonBody(tokenizerChoiceSchema),
    answers: { 200: { description: 'The trajectory with them.', schema: trajectorySchema } },
    handle: ({ params, body, services, signal }) => restoreTexts(params.key, body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/prompt-logprobs',
    summary:
      'Requests the logprobs of prompts that have none, from the model that sampled the trajectory, and stores them.',
    body: jsonBody(promptLogprobsRequestSchema),
    answers: { 200: { description: 'The trajectory with them.', schema: trajectorySchema } },
    handle: ({ params, body, services, signal }) => addPromptLogprobs(params.key, body, services, signal),
  }),
  endpoint({
    method: 'GET',
    path: '/api/library',
    summary: 'What stored trajectories can be filtered by.',
    answers: {
      200: {
        description: 'Outcomes, sources and tags that occur.',
        schema: choicesSchema,
      },
    },
    handle: ({ services }) => services.store.choices(),
  }),
  endpoint({
    method: 'POST',
    path: '/api/export',
    summary:
      'Several trajectories as one file, a line each. Those without tokens are left out, and x-rollscope-excluded counts them.',
    body: jsonBody(exportRequestSchema),
    answers: { 200: { description: 'The file.', lines: z.union([trajectorySchema, z.looseObject({})]) } },
    handle: ({ body, services, signal }) => exportSeveral(body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/export/preview',
    summary: 'What such a file would contain: which trajectories are left out, and what each format loses.',
    body: jsonBody(exportPreviewRequestSchema),
    answers: { 200: { description: 'The preview.', schema: exportPreviewSchema } },
    handle: ({ body, services, signal }) => exportPreview(body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/import',
    summary: 'Stores all trajectories of a file, or none.',
    query: {
      name: 'Name of the file, kept with what is imported.',
      format: `One of ${formats.map(({ name }) => name).join(', ')}. Default: found out.`,
      tokenizer: 'Hub name or folder, for files of ids alone. Default: their texts stay unknown.',
      parser: `Of the tool calls in the texts; with \`tokenizer\`. Default ${DEFAULT_PARSER}.`,
    },
    body: fileBody('The file itself: JSON or JSON lines. docs/limits.md says how large.'),
    answers: {
      201: {
        description: 'What was found, and under which keys it is stored.',
        schema: importedSchema,
      },
    },
    handle: ({ request, services }) => storeFile(request, services),
  }),
]
