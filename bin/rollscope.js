#!/usr/bin/env node
// The command line.
import { fileURLToPath } from 'node:url'
import { runWithPackagedNode } from './packaged-node.js'

runWithPackagedNode(fileURLToPath(new URL('main.ts', import.meta.url)))
