"""A pipeline pass by pass, and one that fails: `python examples/mlir/pipelines.py`.

Each pass is a stage with its time, its operations and its listing, so one sees which pass did what.
"""

from mytriton import mlir

TEXT = """
func.func @scale(%x: memref<8xf32>, %by: f32) {
  affine.for %i = 0 to 8 {
    %0 = memref.load %x[%i] : memref<8xf32>
    %1 = arith.mulf %0, %by : f32
    memref.store %1, %x[%i] : memref<8xf32>
  }
  return
}
"""


def main() -> None:
    module = mlir.parse(TEXT)
    run = module.run(
        "func.func(affine-loop-unroll{unroll-factor=4},canonicalize,cse),lower-affine,convert-scf-to-cf"
    ).run()
    for stage in run.stages:
        print(
            f"{stage.name:45} {stage.status:10} {1e3 * stage.seconds:7.2f} ms  {stage.stats.get('ops', 0):3} operations"
        )
    print(run.result.text)

    # A pass that fails is a stage that says so. In a process of its own, as here, one may even crash.
    failing = mlir.isolated.run(module, "lower-affine,convert-scf-to-cf{no-such-option=1},canonicalize")
    for stage in failing.stages:
        print(f"{stage.name:45} {stage.status}")
        for finding in stage.diagnostics:
            print(finding.message)

    print("passes that unroll:")
    for name, found in mlir.registered().items():
        if "unroll" in name:
            print(f"  {name}: {found.help}")


if __name__ == "__main__":
    main()
