/** Starts the application for `npm start` and `npm run dev`, if its packages are installed. */
import { packagedNode } from '../bin/installed.js'

packagedNode()
await import('./serve.ts')
