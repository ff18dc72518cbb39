; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"

define void @binary_kernel.programs(ptr %0, ptr %1, ptr %2, i32 %3, ptr noalias %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9) #0 {
  %11 = mul i64 %7, %8
  %12 = mul i64 %11, %9
  %13 = icmp uge i64 %12, 2048
  br label %14

14:                                               ; preds = %115, %10
  %15 = phi i64 [ %116, %115 ], [ %5, %10 ]
  %16 = icmp slt i64 %15, %6
  br i1 %16, label %17, label %117

17:                                               ; preds = %14
  %18 = urem i64 %15, %7
  %19 = trunc i64 %18 to i32
  %20 = mul i32 %19, 1024
  %21 = getelementptr float, ptr %0, i32 %20
  %22 = getelementptr float, ptr %1, i32 %20
  %23 = getelementptr float, ptr %2, i32 %20
  %24 = call i1 @memory.apart(ptr %21, ptr %23, i64 0, i64 4096)
  %25 = call i1 @memory.apart(ptr %22, ptr %23, i64 0, i64 4096)
  %26 = and i1 %24, %25
  %27 = add i32 %20, 1023
  %28 = icmp sle i32 %20, %27
  %29 = icmp slt i32 %27, %3
  %30 = and i1 %28, %29
  %31 = and i1 %30, %13
  %32 = and i1 %31, %26
  br i1 %32, label %33, label %48

33:                                               ; preds = %17
  %34 = getelementptr i8, ptr %4, i32 4096
  br label %35

35:                                               ; preds = %38, %33
  %36 = phi i32 [ %45, %38 ], [ 0, %33 ]
  %37 = icmp slt i32 %36, 1024
  br i1 %37, label %38, label %46

38:                                               ; preds = %35
  %39 = getelementptr float, ptr %21, i32 %36
  %40 = load <16 x float>, ptr %39, align 4
  %41 = getelementptr float, ptr %22, i32 %36
  %42 = load <16 x float>, ptr %41, align 4
  %43 = fadd <16 x float> %40, %42
  %44 = getelementptr float, ptr %34, i32 %36
  store <16 x float> %43, ptr %44, align 4
  %45 = add i32 %36, 16
  br label %35, !llvm.loop !37

46:                                               ; preds = %35
  %47 = getelementptr i8, ptr %4, i32 4096
  call void @store.past.i32(ptr %47, ptr %23, i64 1024)
  br label %115

48:                                               ; preds = %17
  br i1 %26, label %49, label %73

49:                                               ; preds = %48
  %50 = insertelement <16 x i32> poison, i32 %20, i32 0
  %51 = shufflevector <16 x i32> %50, <16 x i32> poison, <16 x i32> zeroinitializer
  %52 = insertelement <16 x i32> poison, i32 %3, i32 0
  %53 = shufflevector <16 x i32> %52, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %54

54:                                               ; preds = %57, %49
  %55 = phi i32 [ %71, %57 ], [ 0, %49 ]
  %56 = icmp slt i32 %55, 1024
  br i1 %56, label %57, label %72

57:                                               ; preds = %54
  %58 = insertelement <16 x i32> poison, i32 %55, i32 0
  %59 = shufflevector <16 x i32> %58, <16 x i32> poison, <16 x i32> zeroinitializer
  %60 = add <16 x i32> %59, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %61 = add <16 x i32> %51, %60
  %62 = icmp slt <16 x i32> %61, %53
  %63 = getelementptr float, ptr %21, i32 %55
  %64 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %63, <16 x i1> %62, <16 x float> zeroinitializer)
  %65 = freeze <16 x float> %64
  %66 = getelementptr float, ptr %22, i32 %55
  %67 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %66, <16 x i1> %62, <16 x float> zeroinitializer)
  %68 = freeze <16 x float> %67
  %69 = fadd <16 x float> %65, %68
  %70 = getelementptr float, ptr %23, i32 %55
  call void @llvm.masked.store.v16f32.p0(<16 x float> %69, ptr align 4 %70, <16 x i1> %62)
  %71 = add i32 %55, 16
  br label %54, !llvm.loop !37

72:                                               ; preds = %54, %101
  br label %114

73:                                               ; preds = %48
  %74 = insertelement <16 x i32> poison, i32 %20, i32 0
  %75 = shufflevector <16 x i32> %74, <16 x i32> poison, <16 x i32> zeroinitializer
  %76 = insertelement <16 x i32> poison, i32 %3, i32 0
  %77 = shufflevector <16 x i32> %76, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %78

78:                                               ; preds = %81, %73
  %79 = phi i32 [ %95, %81 ], [ 0, %73 ]
  %80 = icmp slt i32 %79, 1024
  br i1 %80, label %81, label %96

81:                                               ; preds = %78
  %82 = insertelement <16 x i32> poison, i32 %79, i32 0
  %83 = shufflevector <16 x i32> %82, <16 x i32> poison, <16 x i32> zeroinitializer
  %84 = add <16 x i32> %83, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %85 = add <16 x i32> %75, %84
  %86 = icmp slt <16 x i32> %85, %77
  %87 = getelementptr float, ptr %21, i32 %79
  %88 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %87, <16 x i1> %86, <16 x float> zeroinitializer)
  %89 = freeze <16 x float> %88
  %90 = getelementptr float, ptr %22, i32 %79
  %91 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %90, <16 x i1> %86, <16 x float> zeroinitializer)
  %92 = freeze <16 x float> %91
  %93 = fadd <16 x float> %89, %92
  %94 = getelementptr float, ptr %4, i32 %79
  store <16 x float> %93, ptr %94, align 1
  %95 = add i32 %79, 16
  br label %78, !llvm.loop !37

96:                                               ; preds = %78
  %97 = insertelement <16 x i32> poison, i32 %20, i32 0
  %98 = shufflevector <16 x i32> %97, <16 x i32> poison, <16 x i32> zeroinitializer
  %99 = insertelement <16 x i32> poison, i32 %3, i32 0
  %100 = shufflevector <16 x i32> %99, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %101

101:                                              ; preds = %104, %96
  %102 = phi i32 [ %113, %104 ], [ 0, %96 ]
  %103 = icmp slt i32 %102, 1024
  br i1 %103, label %104, label %72

104:                                              ; preds = %101
  %105 = insertelement <16 x i32> poison, i32 %102, i32 0
  %106 = shufflevector <16 x i32> %105, <16 x i32> poison, <16 x i32> zeroinitializer
  %107 = add <16 x i32> %106, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %108 = add <16 x i32> %98, %107
  %109 = icmp slt <16 x i32> %108, %100
  %110 = getelementptr float, ptr %4, i32 %102
  %111 = load <16 x float>, ptr %110, align 1
  %112 = getelementptr float, ptr %23, i32 %102
  call void @llvm.masked.store.v16f32.p0(<16 x float> %111, ptr align 4 %112, <16 x i1> %109)
  %113 = add i32 %102, 16
  br label %101, !llvm.loop !37

114:                                              ; preds = %72
  br label %115

115:                                              ; preds = %46, %114
  %116 = add i64 %15, 1
  br label %14, !llvm.loop !37

117:                                              ; preds = %14
  fence seq_cst
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

define internal void @store.past.i32(ptr %0, ptr %1, i64 %2) {
  %4 = ptrtoint ptr %1 to i64
  %5 = sub i64 0, %4
  %6 = and i64 %5, 63
  %7 = udiv i64 %6, 4
  %8 = sub i64 %2, %7
  %9 = urem i64 %8, 16
  %10 = sub i64 %2, %9
  %11 = insertelement <16 x i64> poison, i64 %7, i32 0
  %12 = shufflevector <16 x i64> %11, <16 x i64> poison, <16 x i32> zeroinitializer
  %13 = icmp ugt <16 x i64> %12, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %14 = load <16 x i32>, ptr %0, align 64
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %14, ptr align 4 %1, <16 x i1> %13)
  br label %15

15:                                               ; preds = %18, %3
  %16 = phi i64 [ %22, %18 ], [ %7, %3 ]
  %17 = icmp slt i64 %16, %10
  br i1 %17, label %18, label %23

18:                                               ; preds = %15
  %19 = getelementptr i32, ptr %0, i64 %16
  %20 = getelementptr i32, ptr %1, i64 %16
  %21 = load <16 x i32>, ptr %19, align 4
  store <16 x i32> %21, ptr %20, align 64, !nontemporal !118
  %22 = add i64 %16, 16
  br label %15, !llvm.loop !37

23:                                               ; preds = %15
  %24 = getelementptr i32, ptr %0, i64 %10
  %25 = getelementptr i32, ptr %1, i64 %10
  %26 = insertelement <16 x i64> poison, i64 %9, i32 0
  %27 = shufflevector <16 x i64> %26, <16 x i64> poison, <16 x i32> zeroinitializer
  %28 = icmp ugt <16 x i64> %27, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %29 = load <16 x i32>, ptr %24, align 4
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %29, ptr align 4 %25, <16 x i1> %28)
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: write)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr captures(none), <16 x i1>) #1

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr captures(none), <16 x i1>, <16 x float>) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: write)
declare void @llvm.masked.store.v16i32.p0(<16 x i32>, ptr captures(none), <16 x i1>) #1

attributes #0 = { "no-builtin-memcpy" "no-inline-line-tables" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: write) }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }


!37 = distinct !{!37, !38, !39}
!38 = !{!"llvm.loop.vectorize.enable", i1 false}
!39 = !{!"llvm.loop.unroll.disable"}
!118 = !{i32 1}
