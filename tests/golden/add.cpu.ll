; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"

define void @binary_kernel.programs(ptr %0, ptr %1, ptr %2, i32 %3, ptr noalias %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9) {
  %11 = mul i64 %7, %8
  %12 = mul i64 %11, %9
  %13 = icmp uge i64 %12, 2048
  br label %14

14:                                               ; preds = %116, %10
  %15 = phi i64 [ %117, %116 ], [ %5, %10 ]
  %16 = icmp slt i64 %15, %6
  br i1 %16, label %17, label %118

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
  %30 = ptrtoint ptr %23 to i64
  %31 = and i64 %30, 63
  %32 = icmp eq i64 %31, 0
  %33 = and i1 %28, %29
  %34 = and i1 %33, %13
  %35 = and i1 %34, %32
  %36 = and i1 %35, %26
  br i1 %36, label %37, label %50

37:                                               ; preds = %17
  br label %38

38:                                               ; preds = %41, %37
  %39 = phi i32 [ %48, %41 ], [ 0, %37 ]
  %40 = icmp slt i32 %39, 1024
  br i1 %40, label %41, label %49

41:                                               ; preds = %38
  %42 = getelementptr float, ptr %21, i32 %39
  %43 = load <16 x float>, ptr %42, align 4
  %44 = getelementptr float, ptr %22, i32 %39
  %45 = load <16 x float>, ptr %44, align 4
  %46 = fadd <16 x float> %43, %45
  %47 = getelementptr float, ptr %23, i32 %39
  store <16 x float> %46, ptr %47, align 64, !nontemporal !40
  %48 = add i32 %39, 16
  br label %38, !llvm.loop !41

49:                                               ; preds = %38, %74
  br label %116

50:                                               ; preds = %17
  br i1 %26, label %51, label %75

51:                                               ; preds = %50
  %52 = insertelement <16 x i32> poison, i32 %20, i32 0
  %53 = shufflevector <16 x i32> %52, <16 x i32> poison, <16 x i32> zeroinitializer
  %54 = insertelement <16 x i32> poison, i32 %3, i32 0
  %55 = shufflevector <16 x i32> %54, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %56

56:                                               ; preds = %59, %51
  %57 = phi i32 [ %73, %59 ], [ 0, %51 ]
  %58 = icmp slt i32 %57, 1024
  br i1 %58, label %59, label %74

59:                                               ; preds = %56
  %60 = insertelement <16 x i32> poison, i32 %57, i32 0
  %61 = shufflevector <16 x i32> %60, <16 x i32> poison, <16 x i32> zeroinitializer
  %62 = add <16 x i32> %61, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %63 = add <16 x i32> %53, %62
  %64 = icmp slt <16 x i32> %63, %55
  %65 = getelementptr float, ptr %21, i32 %57
  %66 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %65, <16 x i1> %64, <16 x float> zeroinitializer)
  %67 = freeze <16 x float> %66
  %68 = getelementptr float, ptr %22, i32 %57
  %69 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %68, <16 x i1> %64, <16 x float> zeroinitializer)
  %70 = freeze <16 x float> %69
  %71 = fadd <16 x float> %67, %70
  %72 = getelementptr float, ptr %23, i32 %57
  call void @llvm.masked.store.v16f32.p0(<16 x float> %71, ptr align 4 %72, <16 x i1> %64)
  %73 = add i32 %57, 16
  br label %56, !llvm.loop !41

74:                                               ; preds = %56, %103
  br label %49

75:                                               ; preds = %50
  %76 = insertelement <16 x i32> poison, i32 %20, i32 0
  %77 = shufflevector <16 x i32> %76, <16 x i32> poison, <16 x i32> zeroinitializer
  %78 = insertelement <16 x i32> poison, i32 %3, i32 0
  %79 = shufflevector <16 x i32> %78, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %80

80:                                               ; preds = %83, %75
  %81 = phi i32 [ %97, %83 ], [ 0, %75 ]
  %82 = icmp slt i32 %81, 1024
  br i1 %82, label %83, label %98

83:                                               ; preds = %80
  %84 = insertelement <16 x i32> poison, i32 %81, i32 0
  %85 = shufflevector <16 x i32> %84, <16 x i32> poison, <16 x i32> zeroinitializer
  %86 = add <16 x i32> %85, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %87 = add <16 x i32> %77, %86
  %88 = icmp slt <16 x i32> %87, %79
  %89 = getelementptr float, ptr %21, i32 %81
  %90 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %89, <16 x i1> %88, <16 x float> zeroinitializer)
  %91 = freeze <16 x float> %90
  %92 = getelementptr float, ptr %22, i32 %81
  %93 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %92, <16 x i1> %88, <16 x float> zeroinitializer)
  %94 = freeze <16 x float> %93
  %95 = fadd <16 x float> %91, %94
  %96 = getelementptr float, ptr %4, i32 %81
  store <16 x float> %95, ptr %96, align 1
  %97 = add i32 %81, 16
  br label %80, !llvm.loop !41

98:                                               ; preds = %80
  %99 = insertelement <16 x i32> poison, i32 %20, i32 0
  %100 = shufflevector <16 x i32> %99, <16 x i32> poison, <16 x i32> zeroinitializer
  %101 = insertelement <16 x i32> poison, i32 %3, i32 0
  %102 = shufflevector <16 x i32> %101, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %103

103:                                              ; preds = %106, %98
  %104 = phi i32 [ %115, %106 ], [ 0, %98 ]
  %105 = icmp slt i32 %104, 1024
  br i1 %105, label %106, label %74

106:                                              ; preds = %103
  %107 = insertelement <16 x i32> poison, i32 %104, i32 0
  %108 = shufflevector <16 x i32> %107, <16 x i32> poison, <16 x i32> zeroinitializer
  %109 = add <16 x i32> %108, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %110 = add <16 x i32> %100, %109
  %111 = icmp slt <16 x i32> %110, %102
  %112 = getelementptr float, ptr %4, i32 %104
  %113 = load <16 x float>, ptr %112, align 1
  %114 = getelementptr float, ptr %23, i32 %104
  call void @llvm.masked.store.v16f32.p0(<16 x float> %113, ptr align 4 %114, <16 x i1> %111)
  %115 = add i32 %104, 16
  br label %103, !llvm.loop !41

116:                                              ; preds = %49
  %117 = add i64 %15, 1
  br label %14, !llvm.loop !41

118:                                              ; preds = %14
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

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: write)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr captures(none), <16 x i1>) #0

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr captures(none), <16 x i1>, <16 x float>) #1

attributes #0 = { nocallback nofree nosync nounwind willreturn memory(argmem: write) }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }


!40 = !{i32 1}
!41 = distinct !{!41, !42, !43}
!42 = !{!"llvm.loop.vectorize.enable", i1 false}
!43 = !{!"llvm.loop.unroll.disable"}
