/**
 * The built-in server: SGLang's HTTP protocol for a small ONNX model in a worker thread. It receives and returns standard Request and
 * Response objects, with the paths that SGLang would see.
 */
import type { DownloadProgress } from '#lib/api/tokenizer-download.ts'
import type { EngineThread } from '#lib/builtin-server/engine/engine-thread.ts'
import { abortRequest, answerGenerate, type GenerateServing } from '#lib/builtin-server/generate/generate-endpoint.ts'
import { MOST_MEBIBYTES } from '#lib/builtin-server/http/json-body.ts'
import { badValue, HttpRefusal, refusalResponse, unavailable } from '#lib/builtin-server/http/refusal.ts'
import { parseFunctionCall, separateReasoning } from '#lib/builtin-server/messages/parsing.ts'
import { answerChatCompletion } from '#lib/builtin-server/openai/chat-completions.ts'
import { completions } from '#lib/builtin-server/openai/completions.ts'
import type { Progress } from '#lib/tokenizer/hub/repository.ts'
import { sizeText } from '#lib/util/text/size-text.ts'
import { createModelLoader, type ModelSource } from './model-loader.ts'
import { loads, type ModelNames, modelInfoAnswer, modelList, oneModel, serverInfoAnswer } from './server-info.ts'
import { detokenize, tokenize } from './tokenize.ts'

/** The built-in server. */
export interface LocalModel {
  /** Answers a request and never throws. The first request that needs the model loads it; after a failure, the next one tries again. */
  handle(request: Request, caller?: Caller): Promise<Response>
  /** Largest body of a request in bytes; a larger one is refused, so that no more of it must be read. */
  readonly largestBody: number
  /** Returns the running downloads from the Hub. */
  downloads(): readonly DownloadProgress[]
  /** Ends the thread and all its running requests. */
  close(): Promise<void>
}

interface Caller {
  /** Whether the caller sent the launch token, so that it may see paths of this machine. */
  readonly hasToken: boolean
}

/** The model and the settings of the server. */
export interface LocalModelOptions extends ModelSource {
  /** Name of the model in the server's answers. */
  readonly modelName: string
}

/** Returns the server; nothing is loaded before the first request. */
export function createLocalModel(options: LocalModelOptions): LocalModel {
  const { modelName } = options
  const generations: GenerateServing['generations'] = new Map()
  const model = createModelLoader(options, generations)

  /** Returns names that AutoTokenizer can load: a folder or a Hub name. The bare name of a folder is neither. */
  const namesFor = ({ hasToken }: Caller): ModelNames => ({
    model: modelName,
    tokenizer: hasToken ? options.model : modelName,
  })

  const readiness = (): Response => {
    if (model.loaded()) return new Response(null)
    model.start()
    const failure = model.failure()
    throw failure === undefined ? unavailable(503, loadingText(model.download())) : unavailable(500, failure)
  }

  const routes: Readonly<Record<string, Route>> = {
    '/': on('GET', async () => Response.json('Rollscope’s built-in model is running')),
    '/ping': on('GET', async () => new Response(null)),
    '/health': on('GET', async () => readiness()),
    '/ready': on('GET', async () => readiness()),
    '/health_generate': on('GET', async () => (model.loaded() ? generateOne(model.get) : readiness())),
    '/model_info': on('GET', async (_request, caller) => {
      const { engine, parsers } = await model.get()
      return Response.json(modelInfoAnswer(namesFor(caller), engine.facts, parsers))
    }),
    '/server_info': on('GET', async (_request, caller) => {
      const { engine, parsers } = await model.get()
      return Response.json(serverInfoAnswer(namesFor(caller), engine.facts, engine.capacity, parsers))
    }),
    '/v1/loads': on('GET', async () => {
      const { engine } = await model.get()
      return Response.json(loads(engine.facts, engine.capacity, engine.jobs(), engine.tally))
    }),
    '/v1/models': on('GET', async () => {
      const { engine, loadedAt } = await model.get()
      return Response.json(modelList(modelName, engine.facts, loadedAt))
    }),
    '/generate': on('POST, PUT', async (request) => answerGenerate(request, model.get)),
    '/v1/chat/completions': on('POST', async (request) => answerChatCompletion(request, model.get)),
    '/v1/completions': on('POST', async (request) => completions(request, model.get)),
    '/parse_function_call': on('POST', parseFunctionCall),
    '/separate_reasoning': on('POST', separateReasoning),
    '/abort_request': on('POST', async (request) => abortRequest(request, generations)),
    '/flush_cache': on('GET, POST', async () => flushCache(model.loaded()?.engine)),
    '/tokenize': on('POST', async (request) => tokenize(request, await model.get())),
    '/detokenize': on('POST', async (request) => detokenize(request, (await model.get()).vocabulary)),
  }

  const oneModelRoute = on('GET', async (request) => {
    const { engine, loadedAt } = await model.get()
    const modelPath = new URL(request.url).pathname.slice(ONE_MODEL.length)
    const isIt = [modelName, encodeURI(modelName), encodeURIComponent(modelName)].includes(modelPath)
    return oneModel(isIt ? modelName : modelPath, modelName, engine.facts, loadedAt)
  })

  return {
    largestBody: MOST_MEBIBYTES * 2 ** 20,
    async handle(request, caller = { hasToken: false }) {
      const { pathname } = new URL(request.url)
      const path = ALIASES[pathname] ?? pathname
      const route = routes[path] ?? (path.startsWith(ONE_MODEL) ? oneModelRoute : undefined)
      try {
        if (!route) return refusalResponse(new HttpRefusal('route', 'Not Found', 404))
        if (!route.methods.split(', ').includes(request.method))
          return refusalResponse(new HttpRefusal('route', 'Method Not Allowed', 405), { allow: route.methods })
        return await route.answer(request, caller)
      } catch (error) {
        if (error instanceof HttpRefusal) return refusalResponse(error)
        // Rendering and encoding took too long.
        if (error instanceof Error && error.name === 'TemplateError') return refusalResponse(badValue(error.message))
        return refusalResponse(unavailable(500, error instanceof Error ? error.message : String(error)))
      }
    },
    downloads() {
      const progress = model.download()
      return progress ? [{ kind: 'model', name: modelName, ...progress }] : []
    },
    close: model.close,
  }
}

const loadingText = (download: Progress | undefined): string =>
  download
    ? `The model is being downloaded: ${sizeText(download.bytes)} of ${sizeText(download.total)}, ${download.file}.`
    : 'The model is being loaded.'

interface Route {
  /** Methods in the form of the header "allow". */
  readonly methods: string
  readonly answer: (request: Request, caller: Caller) => Promise<Response>
}

const on = (methods: string, answer: Route['answer']): Route => ({ methods, answer })

const ONE_MODEL = '/v1/models/'
const ALIASES: Readonly<Record<string, string>> = {
  '/get_model_info': '/model_info',
  '/get_server_info': '/server_info',
  '/v1/tokenize': '/tokenize',
  '/v1/detokenize': '/detokenize',
}

/** Generates one token, which proves that the engine answers. */
async function generateOne(ready: () => Promise<GenerateServing>): Promise<Response> {
  const body = JSON.stringify({ input_ids: [0], sampling_params: { max_new_tokens: 1 } })
  await answerGenerate(new Request('http://localhost/generate', { method: 'POST', body, headers: JSON_TYPE }), ready)
  return new Response(null)
}

const JSON_TYPE = { 'content-type': 'application/json' }

function flushCache(engine: EngineThread | undefined): Response {
  if (engine && engine.jobs() > 0)
    return new Response('Cache not flushed: requests are running or waiting.\n', { status: 400 })
  engine?.forgetPrefixes()
  return new Response('Cache flushed.\n')
}
