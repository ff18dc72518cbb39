; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"

define void @binary_kernel.programs(ptr %0, ptr %1, ptr %2, i32 %3, ptr noalias %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9) {
  br label %11

11:                                               ; preds = %89, %10
  %12 = phi i64 [ %90, %89 ], [ %5, %10 ]
  %13 = icmp slt i64 %12, %6
  br i1 %13, label %14, label %91

14:                                               ; preds = %11
  %15 = urem i64 %12, %7
  %16 = trunc i64 %15 to i32
  %17 = mul i32 %16, 1024
  %18 = getelementptr float, ptr %0, i32 %17
  %19 = getelementptr float, ptr %1, i32 %17
  %20 = getelementptr float, ptr %2, i32 %17
  %21 = call i1 @memory.apart(ptr %18, ptr %20, i64 0, i64 4096)
  %22 = call i1 @memory.apart(ptr %19, ptr %20, i64 0, i64 4096)
  %23 = and i1 %21, %22
  br i1 %23, label %24, label %48

24:                                               ; preds = %14
  %25 = insertelement <16 x i32> poison, i32 %17, i32 0
  %26 = shufflevector <16 x i32> %25, <16 x i32> poison, <16 x i32> zeroinitializer
  %27 = insertelement <16 x i32> poison, i32 %3, i32 0
  %28 = shufflevector <16 x i32> %27, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %29

29:                                               ; preds = %32, %24
  %30 = phi i32 [ %46, %32 ], [ 0, %24 ]
  %31 = icmp slt i32 %30, 1024
  br i1 %31, label %32, label %47

32:                                               ; preds = %29
  %33 = insertelement <16 x i32> poison, i32 %30, i32 0
  %34 = shufflevector <16 x i32> %33, <16 x i32> poison, <16 x i32> zeroinitializer
  %35 = add <16 x i32> %34, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %36 = add <16 x i32> %26, %35
  %37 = icmp slt <16 x i32> %36, %28
  %38 = getelementptr float, ptr %18, i32 %30
  %39 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %38, <16 x i1> %37, <16 x float> zeroinitializer)
  %40 = freeze <16 x float> %39
  %41 = getelementptr float, ptr %19, i32 %30
  %42 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %41, <16 x i1> %37, <16 x float> zeroinitializer)
  %43 = freeze <16 x float> %42
  %44 = fadd <16 x float> %40, %43
  %45 = getelementptr float, ptr %20, i32 %30
  call void @llvm.masked.store.v16f32.p0(<16 x float> %44, ptr align 4 %45, <16 x i1> %37)
  %46 = add i32 %30, 16
  br label %29, !llvm.loop !35

47:                                               ; preds = %29, %76
  br label %89

48:                                               ; preds = %14
  %49 = insertelement <16 x i32> poison, i32 %17, i32 0
  %50 = shufflevector <16 x i32> %49, <16 x i32> poison, <16 x i32> zeroinitializer
  %51 = insertelement <16 x i32> poison, i32 %3, i32 0
  %52 = shufflevector <16 x i32> %51, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %53

53:                                               ; preds = %56, %48
  %54 = phi i32 [ %70, %56 ], [ 0, %48 ]
  %55 = icmp slt i32 %54, 1024
  br i1 %55, label %56, label %71

56:                                               ; preds = %53
  %57 = insertelement <16 x i32> poison, i32 %54, i32 0
  %58 = shufflevector <16 x i32> %57, <16 x i32> poison, <16 x i32> zeroinitializer
  %59 = add <16 x i32> %58, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %60 = add <16 x i32> %50, %59
  %61 = icmp slt <16 x i32> %60, %52
  %62 = getelementptr float, ptr %18, i32 %54
  %63 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %62, <16 x i1> %61, <16 x float> zeroinitializer)
  %64 = freeze <16 x float> %63
  %65 = getelementptr float, ptr %19, i32 %54
  %66 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %65, <16 x i1> %61, <16 x float> zeroinitializer)
  %67 = freeze <16 x float> %66
  %68 = fadd <16 x float> %64, %67
  %69 = getelementptr float, ptr %4, i32 %54
  store <16 x float> %68, ptr %69, align 1
  %70 = add i32 %54, 16
  br label %53, !llvm.loop !35

71:                                               ; preds = %53
  %72 = insertelement <16 x i32> poison, i32 %17, i32 0
  %73 = shufflevector <16 x i32> %72, <16 x i32> poison, <16 x i32> zeroinitializer
  %74 = insertelement <16 x i32> poison, i32 %3, i32 0
  %75 = shufflevector <16 x i32> %74, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %76

76:                                               ; preds = %79, %71
  %77 = phi i32 [ %88, %79 ], [ 0, %71 ]
  %78 = icmp slt i32 %77, 1024
  br i1 %78, label %79, label %47

79:                                               ; preds = %76
  %80 = insertelement <16 x i32> poison, i32 %77, i32 0
  %81 = shufflevector <16 x i32> %80, <16 x i32> poison, <16 x i32> zeroinitializer
  %82 = add <16 x i32> %81, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %83 = add <16 x i32> %73, %82
  %84 = icmp slt <16 x i32> %83, %75
  %85 = getelementptr float, ptr %4, i32 %77
  %86 = load <16 x float>, ptr %85, align 1
  %87 = getelementptr float, ptr %20, i32 %77
  call void @llvm.masked.store.v16f32.p0(<16 x float> %86, ptr align 4 %87, <16 x i1> %84)
  %88 = add i32 %77, 16
  br label %76, !llvm.loop !35

89:                                               ; preds = %47
  %90 = add i64 %12, 1
  br label %11, !llvm.loop !35

91:                                               ; preds = %11
  ret void
}

define internal i1 @memory.apart(ptr %0, ptr %1, i64 %2, i64 %3) {
  %5 = ptrtoint ptr %0 to i64
  %6 = ptrtoint ptr %1 to i64
  %7 = sub i64 %6, %5
  %8 = add i64 %2, 1
  %9 = sub i64 %7, %8
  %10 = sub i64 %3, %8
  %11 = icmp uge i64 %9, %10
  ret i1 %11
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: write)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr captures(none), <16 x i1>) #0

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr captures(none), <16 x i1>, <16 x float>) #1

attributes #0 = { nocallback nofree nosync nounwind willreturn memory(argmem: write) }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }


!35 = distinct !{!35, !36, !37}
!36 = !{!"llvm.loop.vectorize.enable", i1 false}
!37 = !{!"llvm.loop.unroll.disable"}
