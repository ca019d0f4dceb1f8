/** Starts the application for `npm start` and `npm run dev`. */
import { fileURLToPath } from 'node:url'
import { runWithPackagedNode } from '../bin/packaged-node.js'

runWithPackagedNode(fileURLToPath(new URL('serve.ts', import.meta.url)))
