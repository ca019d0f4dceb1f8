"""Run llama.cpp's server with a GGUF file until the process is ended: llamacpp_server.py MODEL.gguf PORT [ADAPTER.gguf]."""

import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = 8192
params.n_parallel = 2
params.n_gpu_layers = 0
params.cpuparams.n_threads = 1
params.warmup = False
params.use_jinja = True
params.endpoint_slots = True
params.endpoint_props = True
if len(sys.argv) > 3:
    adapter = xllamacpp.CommonAdapterLoraInfo()
    adapter.path = sys.argv[3]
    adapter.scale = 0.0
    params.lora_adapters = [adapter]
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
signal.pause()
