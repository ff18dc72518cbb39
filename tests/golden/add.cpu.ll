; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"

define void @binary_kernel.programs(ptr %0, ptr %1, ptr %2, i32 %3, ptr noalias %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9) {
  br label %11

11:                                               ; preds = %85, %10
  %12 = phi i64 [ %86, %85 ], [ %5, %10 ]
  %13 = icmp slt i64 %12, %6
  br i1 %13, label %14, label %87

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
  br i1 %23, label %24, label %46

24:                                               ; preds = %14
  %25 = insertelement <16 x i32> poison, i32 %17, i32 0
  %26 = shufflevector <16 x i32> %25, <16 x i32> poison, <16 x i32> zeroinitializer
  %27 = insertelement <16 x i32> poison, i32 %3, i32 0
  %28 = shufflevector <16 x i32> %27, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %29

29:                                               ; preds = %32, %24
  %30 = phi i32 [ %44, %32 ], [ 0, %24 ]
  %31 = icmp slt i32 %30, 1024
  br i1 %31, label %32, label %45

32:                                               ; preds = %29
  %33 = insertelement <16 x i32> poison, i32 %30, i32 0
  %34 = shufflevector <16 x i32> %33, <16 x i32> poison, <16 x i32> zeroinitializer
  %35 = add <16 x i32> %34, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %36 = add <16 x i32> %26, %35
  %37 = icmp slt <16 x i32> %36, %28
  %38 = getelementptr float, ptr %18, i32 %30
  %39 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %38, <16 x i1> %37, <16 x float> zeroinitializer)
  %40 = getelementptr float, ptr %19, i32 %30
  %41 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %40, <16 x i1> %37, <16 x float> zeroinitializer)
  %42 = fadd <16 x float> %39, %41
  %43 = getelementptr float, ptr %20, i32 %30
  call void @llvm.masked.store.v16f32.p0(<16 x float> %42, ptr align 4 %43, <16 x i1> %37)
  %44 = add i32 %30, 16
  br label %29, !llvm.loop !33

45:                                               ; preds = %29, %72
  br label %85

46:                                               ; preds = %14
  %47 = insertelement <16 x i32> poison, i32 %17, i32 0
  %48 = shufflevector <16 x i32> %47, <16 x i32> poison, <16 x i32> zeroinitializer
  %49 = insertelement <16 x i32> poison, i32 %3, i32 0
  %50 = shufflevector <16 x i32> %49, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %51

51:                                               ; preds = %54, %46
  %52 = phi i32 [ %66, %54 ], [ 0, %46 ]
  %53 = icmp slt i32 %52, 1024
  br i1 %53, label %54, label %67

54:                                               ; preds = %51
  %55 = insertelement <16 x i32> poison, i32 %52, i32 0
  %56 = shufflevector <16 x i32> %55, <16 x i32> poison, <16 x i32> zeroinitializer
  %57 = add <16 x i32> %56, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %58 = add <16 x i32> %48, %57
  %59 = icmp slt <16 x i32> %58, %50
  %60 = getelementptr float, ptr %18, i32 %52
  %61 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %60, <16 x i1> %59, <16 x float> zeroinitializer)
  %62 = getelementptr float, ptr %19, i32 %52
  %63 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %62, <16 x i1> %59, <16 x float> zeroinitializer)
  %64 = fadd <16 x float> %61, %63
  %65 = getelementptr float, ptr %4, i32 %52
  store <16 x float> %64, ptr %65, align 1
  %66 = add i32 %52, 16
  br label %51, !llvm.loop !33

67:                                               ; preds = %51
  %68 = insertelement <16 x i32> poison, i32 %17, i32 0
  %69 = shufflevector <16 x i32> %68, <16 x i32> poison, <16 x i32> zeroinitializer
  %70 = insertelement <16 x i32> poison, i32 %3, i32 0
  %71 = shufflevector <16 x i32> %70, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %72

72:                                               ; preds = %75, %67
  %73 = phi i32 [ %84, %75 ], [ 0, %67 ]
  %74 = icmp slt i32 %73, 1024
  br i1 %74, label %75, label %45

75:                                               ; preds = %72
  %76 = insertelement <16 x i32> poison, i32 %73, i32 0
  %77 = shufflevector <16 x i32> %76, <16 x i32> poison, <16 x i32> zeroinitializer
  %78 = add <16 x i32> %77, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %79 = add <16 x i32> %69, %78
  %80 = icmp slt <16 x i32> %79, %71
  %81 = getelementptr float, ptr %4, i32 %73
  %82 = load <16 x float>, ptr %81, align 1
  %83 = getelementptr float, ptr %20, i32 %73
  call void @llvm.masked.store.v16f32.p0(<16 x float> %82, ptr align 4 %83, <16 x i1> %80)
  %84 = add i32 %73, 16
  br label %72, !llvm.loop !33

85:                                               ; preds = %45
  %86 = add i64 %12, 1
  br label %11, !llvm.loop !33

87:                                               ; preds = %11
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


!33 = distinct !{!33, !34, !35}
!34 = !{!"llvm.loop.vectorize.enable", i1 false}
!35 = !{!"llvm.loop.unroll.disable"}
