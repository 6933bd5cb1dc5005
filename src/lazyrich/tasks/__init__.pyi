from ._teacher_student import TeacherStudent as TeacherStudent
